"""The front page: a list of blocks that staff order and edit. Apps add kinds of blocks by a module `front_blocks`."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import date, datetime
from functools import cache
from typing import Any

from django.utils.translation import gettext as _

from catalogue.menu_links import find_target_url
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields
from shop_settings.queries import get_settings
from web.app_modules import find_app_modules
from web.types import StrOrPromise

MAX_BLOCKS = 16
# How many products a block shows at most: all pictures of the first row belong to the first view (X140).
MAX_PRODUCTS = 4
CHOSEN = "chosen"  # the source of a row whose products staff choose


@dataclass(frozen=True)
class Block:
    """A block of the front page. What a field means depends on the kind; "" is the kind's own text.

    `link` is a target of a menu's link (catalogue.menu_links), or "#" and the key of a block. `source` says which of its contents
    the block shows. `product_ids` are the hexadecimal ids of chosen products.
    """

    key: str
    kind: str
    position: int
    title: str = ""
    text: str = ""
    link: str = ""
    link_label: str = ""
    source: str = ""
    product_ids: tuple[str, ...] = ()
    picture: str = ""
    alt: str = ""
    starts_at: datetime | None = None
    ends_at: datetime | None = None

    def is_shown(self, now: datetime) -> bool:
        return (self.starts_at is None or self.starts_at <= now) and (
            self.ends_at is None or now < self.ends_at
        )


@dataclass(frozen=True)
class BlockKind:
    """A kind of block: the template that draws it, and the fields of `Block` that staff fill in.

    `start` begins the reads of a block and returns a function that returns what the template shows beside the block: a value with a
    hash, since it is part of a cache key, or None to show nothing. `sources` are the choices for `Block.source`. `labels` replace the
    usual labels of fields in the form.
    """

    name: str
    label: StrOrPromise
    template: str
    fields: tuple[str, ...] = ("title", "text")
    start: Callable[[Block, datetime], Callable[[], Hashable | None]] = lambda _block, _now: tuple
    sources: tuple[tuple[str, StrOrPromise], ...] = ()
    labels: Mapping[str, StrOrPromise] = field(default_factory=dict)


def _parse(key: str, value: Mapping[str, Any]) -> Block:
    times = {
        name: datetime.fromisoformat(value[name]) if value[name] else None
        for name in ("starts_at", "ends_at")
    }
    return Block(
        **pick_fields(Block, value)
        | times
        | {"key": key, "product_ids": tuple(value["product_ids"])}
    )


def _dump(block: Block) -> dict[str, Any]:
    value = asdict(block)
    del value["key"]
    times = {
        name: time.isoformat() if (time := value[name]) else "" for name in ("starts_at", "ends_at")
    }
    return value | times | {"product_ids": list(block.product_ids)}


def _first_values() -> dict[str, Block]:
    blocks = (
        Block("hero", "hero", 0, source="promotions"),
        Block("new", "products", 1, source="new_arrivals"),
        Block("tiles", "categories", 2),
        Block("popular", "products", 3, source="popular"),
        Block("deals", "products", 4, source="deals"),
        Block("featured", "products", 5, source="featured"),
        Block("promises", "promises", 6),
    )
    return {block.key: block for block in blocks}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check the number of blocks. Raises SettingRefused."""
    if len(snapshot.get_values(FRONT_BLOCKS)) > MAX_BLOCKS:
        raise SettingRefused(
            _("The front page has %(most)d blocks already. Remove one first.")
            % {"most": MAX_BLOCKS}
        )


FRONT_BLOCKS = SettingKind(
    "front block", _parse, _dump, _first_values, _check, unversioned=("position",)
)


@cache
def get_block_kinds() -> Mapping[str, BlockKind]:
    """Return the kinds of blocks of all installed apps, by name."""
    modules = find_app_modules("front_blocks").values()
    return {kind.name: kind for module in modules for kind in module.BLOCKS}


def sort_blocks(blocks: Mapping[str, Block]) -> list[Block]:
    """Return blocks in their order on the page."""
    return sorted(blocks.values(), key=lambda block: (block.position, block.key))


def list_blocks(now: datetime) -> list[tuple[Block, BlockKind]]:
    """Return the blocks that the front page shows at a time, with their kinds. Raises CassandraUnavailable."""
    kinds = get_block_kinds()
    return [
        (block, kinds[block.kind])
        for block in sort_blocks(get_settings().get_values(FRONT_BLOCKS))
        # The kind is missing if its app was removed.
        if block.is_shown(now) and block.kind in kinds
    ]


def with_link_url(block: Block) -> Block:
    """Return the block with its link's address as `link`. Without that page it has no link. Raises CassandraUnavailable."""
    if not block.link:
        return block
    url = find_target_url(block.link)
    return replace(block, link=url, link_label=block.link_label if url else "")


def move_block(blocks: Mapping[str, Block], key: str, step: int) -> Mapping[str, Block]:
    """Return the blocks with one of them moved by `step` places; the same blocks if it is gone."""
    order = [block for block in sort_blocks(blocks) if block.key != key]
    if key not in blocks:
        return blocks
    place = sort_blocks(blocks).index(blocks[key]) + step
    order.insert(max(0, place), blocks[key])
    return {block.key: replace(block, position=place) for place, block in enumerate(order)}
