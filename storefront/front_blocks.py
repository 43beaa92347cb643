"""The shop's own kinds of blocks for the front page."""

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from uuid import UUID

from django.urls import reverse
from django.utils.timezone import localdate
from django.utils.translation import gettext_lazy as _

from catalogue import queries
from catalogue.entities import ProductCard
from catalogue.front_page import CHOSEN, MAX_PRODUCTS, Block, BlockKind
from catalogue.menu_links import find_category_id
from catalogue.operations import FEATURE_TYPES
from catalogue.templatetags.cards import CardList, make_card_list
from pricing.delivery import list_delivery_countries
from promotions.queries import list_running_promotions, prefetch_automatic_promotions
from promotions.rules import Promotion
from shop_settings.terms import get_terms


@dataclass(frozen=True)
class ProductRow:
    """A row of products: its own title, the page with all of them, and that link's label."""

    title: str
    url: str
    link_label: str
    products: CardList


@dataclass(frozen=True)
class Promises:
    country_count: int
    return_days: int


_TITLES = {
    "new_arrivals": (_("New arrivals"), "new_arrivals", _("All new arrivals")),
    "popular": (_("Popular now"), "", ""),
    "deals": (_("On sale"), "deals", _("All deals")),
    "featured": (_("Our favourites"), "", ""),
}
assert _TITLES.keys() == set(FEATURE_TYPES)


def _start_products(block: Block, now: datetime) -> Callable[[], ProductRow | None]:
    if block.source == CHOSEN:
        chosen = [UUID(each) for each in block.product_ids[:MAX_PRODUCTS]]
        find = queries.prefetch_product_cards(chosen, now)
        return lambda: _make_row("", "", "", find())
    if category_id := find_category_id(block.source):
        queries.prefetch_categories()
        rows = queries.prefetch_category_cards(category_id, MAX_PRODUCTS)
        return lambda: _make_category_row(
            category_id, [queries.card_from_row(row) for row in rows.rows()]
        )
    if block.source not in _TITLES:  # a later version of the shop, taken back since, has saved it
        return lambda: None
    pending = queries.prefetch_featured(block.source)
    title, page, label = _TITLES[block.source]
    return lambda: _make_row(
        str(title),
        reverse(page) if page else "",
        str(label),
        [queries.card_from_row(row) for row in pending.rows()[:MAX_PRODUCTS]],
    )


def _make_category_row(category_id: UUID, cards: list[ProductCard]) -> ProductRow | None:
    node = queries.get_category_tree().by_id.get(category_id)
    if node is None:
        return None
    url = reverse("category", args=(node.slug,))
    return _make_row(node.name, url, str(_("Show all")), cards)


def _make_row(title: str, url: str, label: str, cards: list[ProductCard]) -> ProductRow | None:
    return ProductRow(title, url, label, make_card_list(cards)) if cards else None


def _start_categories(_block: Block, _now: datetime) -> Callable[[], Hashable]:
    queries.prefetch_categories()
    return lambda: (
        tuple(child for root in queries.list_menu() for child in root.children or (root,)) or None
    )


def _start_promotions(now: datetime) -> Callable[[], tuple[Promotion, ...]]:
    prefetch_automatic_promotions()
    return partial(list_running_promotions, now)


def _start_hero(block: Block, now: datetime) -> Callable[[], Hashable]:
    return _start_promotions(now) if block.source == "promotions" else tuple


def _start_promises(_block: Block, now: datetime) -> Callable[[], Promises]:
    terms = get_terms(localdate(now))
    # Without voluntary returns the legal terms apply.
    days = terms.return_days or terms.withdrawal_days
    return lambda: Promises(len(list_delivery_countries()), days)


BLOCKS = (
    BlockKind(
        "hero",
        _("Head of the page"),
        "storefront/blocks/hero.html",
        ("title", "text", "link", "link_label", "source"),
        _start_hero,
        (("promotions", _("Running promotions below the text")), ("", _("No promotions"))),
    ),
    BlockKind(
        "products",
        _("Row of products"),
        "storefront/blocks/products.html",
        ("title", "source", "product_ids"),
        _start_products,
        (
            *((name, title) for name, (title, _page, _label) in _TITLES.items()),
            (CHOSEN, _("Products that you choose")),
        ),
    ),
    BlockKind(
        "categories",
        _("Categories"),
        "storefront/blocks/categories.html",
        ("title",),
        _start_categories,
    ),
    BlockKind(
        "text",
        _("Text with a picture"),
        "storefront/blocks/text.html",
        ("title", "text", "link", "link_label", "picture", "alt"),
    ),
    BlockKind(
        "promotions",
        _("Promotions"),
        "storefront/blocks/promotions.html",
        ("title",),
        lambda _block, now: _start_promotions(now),
    ),
    BlockKind(
        "promises",
        _("Delivery, returns and guests"),
        "storefront/blocks/promises.html",
        ("title", "text"),
        _start_promises,
        labels={"title": _("Promise about delivery"), "text": _("Sentence below it")},
    ),
)


def lead(blocks: Iterable[tuple[str, Block, Hashable]]) -> Iterator[tuple[str, Block, Hashable]]:
    """Yield the blocks; the pictures of the first row of products are those of the first view."""
    is_first = True
    for template, block, shown in blocks:
        if is_first and isinstance(shown, ProductRow):
            is_first = False
            first_row = replace(shown.products, eager_count=MAX_PRODUCTS)
            yield template, block, replace(shown, products=first_row)
        else:
            yield template, block, shown
