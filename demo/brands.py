"""Other brands of the demo shop: what staff would save on their pages to make another shop of it, and the way back.

A file in `data/brands/` has settings as they are stored, pages of text, and categories with the products that are sold in them.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from catalogue import operations, queries
from catalogue.errors import CategoryRefused
from catalogue.front_page import FRONT_BLOCKS
from catalogue.operations.picture_uploads import CLEAR
from catalogue.photos import take_in_photo
from demo.catalogue_data import (
    CATEGORIES,
    PHOTOGRAPHS,
    PRODUCTS,
    DemoProduct,
    demo_category_id,
    demo_product_id,
    read_data_file,
)
from demo.loader import do_again_if_late, run_in_parallel, save_reduced_as_allowed
from demo.logins import LOGINS
from mail.texts import MAIL_TEXTS
from shop_settings.brand import BRAND, KEY, find_brand
from shop_settings.brand_history import save_brand
from shop_settings.kinds import SettingKind
from shop_settings.menus import MENUS
from shop_settings.operations import change_settings
from shop_settings.queries import get_settings_at_quorum
from text_pages.operations import save_page, set_offline
from text_pages.pages import FIRST_PAGES, TEXT_PAGES, PageHead, PageVersion, read_first_version
from text_pages.queries import get_page_version

FIRST = "first"
_DATA = PHOTOGRAPHS.parent
_ADMIN = LOGINS[-1]
Tables = Mapping[str, Mapping[str, Any]]


def list_brand_names() -> list[str]:
    """Return the names of the brands, without FIRST, the way back."""
    return sorted(each.stem for each in _DATA.glob("brands/*.toml"))


def load_brand(name: str, now: datetime) -> None:
    """Turn the demo shop into the shop of a brand. What staff have saved instead is replaced. A repeat changes nothing."""
    said = {} if name == FIRST else read_data_file(f"brands/{name}")
    seen = BRAND.fingerprint(find_brand(get_settings_at_quorum()))
    brand = BRAND.first_values()[KEY]
    if said:
        pictures = {each: _take_in(said[KEY][each]) for each in ("logo", "favicon", "hero")}
        brand = BRAND.parse(KEY, said[KEY] | pictures)
    do_again_if_late(partial(save_brand, brand, seen, _ADMIN.user_id, now))
    _save_settings(MENUS, said.get("menu", {}), now)
    _save_settings(FRONT_BLOCKS, _complete_blocks(said.get("block", {})), now)
    _save_settings(MAIL_TEXTS, said.get("mail", {}), now)
    _save_pages(said.get("page", {}), now)
    _move_products(said.get("category") or _list_first_categories(), now)


@cache
def _take_in(name: str) -> str:
    """Store a picture as if staff had uploaded it, and return its text."""
    file = _DATA / name
    salt = CLEAR if file.suffix == ".png" else ""
    return str(take_in_photo(file.read_bytes(), file.name, salt, is_clear=bool(salt)))


def _complete_blocks(tables: Tables) -> Tables:
    return {
        key: {
            **dict.fromkeys(("starts_at", "ends_at"), ""),
            **each,
            "position": place,
            "picture": _take_in(each["picture"]) if "picture" in each else "",
            "product_ids": [demo_product_id(product).hex for product in each.get("products", ())],
        }
        for place, (key, each) in enumerate(tables.items())
    }


def _save_settings(kind: SettingKind[Any], tables: Tables, now: datetime) -> None:
    values = {key: kind.parse(key, each) for key, each in tables.items()} or kind.first_values()
    do_again_if_late(partial(change_settings, kind, lambda _before: values, now))


def _save_pages(tables: Tables, now: datetime) -> None:
    """Publish a brand's pages. Those of other brands go back to the shop's own text, or offline if it has none."""
    pages = get_settings_at_quorum().get_values(TEXT_PAGES)
    files = map(read_data_file, (f"brands/{name}" for name in list_brand_names()))
    for key in {key for file in files for key in file["page"]}:
        words: list[str] = list(tables.get(key, {}).values())
        if not words and key in FIRST_PAGES:
            words = _list_words(read_first_version(key))
        page = pages.get(key)
        if words and not (page and _list_words(get_page_version(key, page.saved)) == words):
            slug, title, description, text = words
            head = PageHead(page.saved + 1 if page else 1, slug, title, description, now)
            save_page(key, PageVersion(head, text, _ADMIN.user_id, now), now)
        if page or words:
            set_offline(key, now, is_offline=not words)


def _list_words(version: PageVersion) -> list[str]:
    return [version.head.slug, version.head.title, version.head.description, version.text]


def _list_first_categories() -> Tables:
    sold = {each.slug: [p.key for p in PRODUCTS if p.category == each.slug] for each in CATEGORIES}
    return {each.slug: asdict(each) | {"products": sold[each.slug]} for each in CATEGORIES}


def _move_products(tables: Tables, now: datetime) -> None:
    """Save a brand's categories, parents first, sell its products there, and archive the others. Remove categories that are empty.

    Categories and products that this shop never had are left out.
    """
    tree, ids = (
        queries.get_category_tree_at_quorum(),
        {key: demo_category_id(key) for key in tables},
    )
    for position, (key, each) in enumerate(tables.items()):
        node = tree.by_id.get(ids[key])
        if node or ids[key] in tree.removed_ids:
            operations.save_category(
                category_id=ids[key],
                parent_id=ids[each["parent"]] if each.get("parent") else None,
                position=position,
                seen=operations.fingerprint_category(node) if node else "",
                **{name: each[name] for name in ("slug", "name", "description", "picture")},
            )
    places = {product: ids[key] for key, each in tables.items() for product in each["products"]}

    def move(product: DemoProduct) -> None:
        present = queries.get_product_at_quorum(demo_product_id(product.key))
        status = "active" if product.key in places else "archived"
        # An archived product needs a category, too.
        category_id = places.get(product.key) or next(iter(ids.values()))
        if present and (present.status, present.category_id) != (status, category_id):
            save_reduced_as_allowed(replace(present, status=status, category_id=category_id), now)
        elif present:  # its category may have moved, and lists above it must be empty
            operations.refresh_cards(present.product_id)

    run_in_parallel(move, PRODUCTS, lambda: None)
    demo_ids = {demo_category_id(each.slug) for each in CATEGORIES}
    for node in reversed(queries.get_category_tree_at_quorum().nodes):
        if node.category_id in demo_ids - set(ids.values()):
            with suppress(CategoryRefused):  # it has products that staff have added
                operations.remove_category(node.category_id, operations.fingerprint_category(node))
