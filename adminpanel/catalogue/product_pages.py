"""The pages of products: the rows of the list, and values in words."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.catalogue.labels import AVAILABILITY_LABELS, STATUS_LABELS, TAX_LABELS
from adminpanel.catalogue.product_forms import FIELD_COLUMNS, ProductForm
from adminpanel.catalogue.variant_forms import PriceForm
from adminpanel.catalogue.variant_rows import VALUES
from adminpanel.stock.booking import StockForm
from adminpanel.stock.pages import StockLine, get_stock_lines
from catalogue import queries
from catalogue.descriptions import plain_description
from catalogue.entities import Product, Variant
from catalogue.prices import PricePoint
from catalogue.unit_prices import UNITS
from catalogue.variants import fingerprint_variant, list_used_options
from inventory.entities import BACKORDER_WAREHOUSE, Stock
from inventory.queries import prefetch_stock, stock_from_rows
from spreadsheets.cells import join_list
from spreadsheets.typed_values import format_details, format_tags

STATUS_TONES = {"draft": "plain", "active": "good", "archived": "plain"}
# Search engines show about this many characters of a page's title and of its description.
SNIPPET_TITLE, SNIPPET_TEXT = 60, 155


@dataclass(frozen=True)
class ProductLine:
    """A product's row in the list."""

    product: Product
    picture: str
    lowest: Money
    highest: Money
    sold_count: int
    units: int
    price_form: PriceForm | None  # None unless exactly one variant is sold
    stock_line: StockLine | None  # if its units also lie in one warehouse
    availability_label: str
    status_label: str
    tone: str
    category: str


@dataclass(frozen=True)
class SubmittedCount:
    """A count of a variant's units in a warehouse, as submitted in the list of products."""

    variant: Variant
    warehouse_id: str
    form: StockForm


def list_product_lines(
    products: Sequence[Product], now: datetime, submitted: PriceForm | SubmittedCount | None = None
) -> list[ProductLine]:
    """Return the rows of the product list. `submitted` replaces the form of its row. Raises CassandraUnavailable."""
    reading = [prefetch_stock(each.product_id) for each in products]
    stocks = [stock_from_rows(pending.rows()) for pending in reading]
    found = zip(products, stocks, strict=True)
    keys = {key[1].variant_id: key for each in found if (key := _find_countable(*each))}
    forms: dict[tuple[UUID, str], StockForm] = {}
    if isinstance(submitted, SubmittedCount):
        variant_id = submitted.variant.variant_id
        product = next(each for each in products if each.get_variant(variant_id))
        keys[variant_id] = (product, submitted.variant, submitted.warehouse_id)
        forms[variant_id, submitted.warehouse_id] = submitted.form
    price = submitted if isinstance(submitted, PriceForm) else None
    lines = get_stock_lines(list(keys.values()), forms)
    for line in lines:
        line.form.initial["units"] = line.numbers.on_hand
    by_variant = {line.variant.variant_id: line for line in lines}
    return [
        _product_line(each, now, stock, price, by_variant)
        for each, stock in zip(products, stocks, strict=True)
    ]


def _find_countable(
    product: Product, stock: Mapping[UUID, Stock]
) -> tuple[Product, Variant, str] | None:
    """Return a product's only sold variant and its only warehouse. Return None if the product has more of either."""
    sold = [each for each in product.variants if each.sold]
    if len(sold) != 1 or sold[0].variant_id not in stock:
        return None
    warehouses = stock[sold[0].variant_id].by_warehouse.keys() - {BACKORDER_WAREHOUSE}
    return (product, sold[0], min(warehouses)) if len(warehouses) == 1 else None


def _product_line(
    product: Product,
    now: datetime,
    stock: Mapping[UUID, Stock],
    submitted: PriceForm | None,
    stock_lines: Mapping[UUID, StockLine],
) -> ProductLine:
    """Return a product's row in the list. Its prices and stock include only variants that are sold."""
    sold = [each for each in product.variants if each.sold] or list(product.variants)
    prices = sorted(each.price for each in sold)
    node = queries.get_category(product.category_id)
    label, tone = status_badge(product, now)
    return ProductLine(
        product,
        next((product.picture_of(each) for each in sold if product.picture_of(each)), ""),
        prices[0],
        prices[-1],
        sum(each.sold for each in product.variants),
        sum(stock[each.variant_id].total_in_stock for each in sold if each.variant_id in stock),
        _price_form(sold, submitted),
        next(
            (stock_lines[each.variant_id] for each in sold if each.variant_id in stock_lines), None
        ),
        str(AVAILABILITY_LABELS.get(product.availability, "")),
        label,
        tone,
        node.name if node else "",
    )


def _price_form(sold: Sequence[Variant], submitted: PriceForm | None) -> PriceForm | None:
    if len(sold) != 1 or not sold[0].sold:
        return None
    if submitted and submitted.variant.variant_id == sold[0].variant_id:
        return submitted
    return PriceForm(sold[0], fingerprint_variant(sold[0]))


def status_badge(product: Product, now: datetime) -> tuple[str, str]:
    """Return a product's status at a moment, in words, and the tone of its badge."""
    if product.status != "active":
        return str(STATUS_LABELS[product.status]), STATUS_TONES[product.status]
    if product.active_from and now < product.active_from:
        return _("Scheduled"), "calm"
    if product.active_until and product.active_until <= now:
        return _("Ended"), "plain"
    return (_("Active"), "good") if product.is_on_sale(now) else (_("No available variant"), "warn")


def related_skus(product: Product) -> list[str]:
    """Return for each related product one of its SKUs. Raises CassandraUnavailable."""
    found = queries.get_products(product.related_ids)
    return [found[each].variants[0].sku for each in product.related_ids if each in found]


def successor_sku(product: Product) -> str:
    """Return one SKU of the product that succeeds this one, or "". Raises CassandraUnavailable."""
    found = queries.get_product(product.successor_id) if product.successor_id else None
    return found.variants[0].sku if found else ""


def find_related_ids(skus: Sequence[str]) -> tuple[tuple[UUID, ...], list[str]]:
    """Return the ids of the products with these SKUs, and the SKUs that no product has. Raises CassandraUnavailable."""
    possible = [sku for sku in skus if len(sku) <= queries.MAX_SKU_LENGTH]
    reading = {sku: queries.prefetch_variant_by_sku(sku) for sku in possible}
    rows = {sku: pending.one() for sku, pending in reading.items()}
    ids = dict.fromkeys(row.product_id for row in rows.values() if row)
    return tuple(ids), [sku for sku in skus if not rows.get(sku)]


@dataclass(frozen=True)
class SearchSnippet:
    """A product as an entry in a search engine's results."""

    title: str
    address: str
    text: str


def search_snippet(product: Product, host: str) -> SearchSnippet:
    """Return a product's entry as a search engine would show it in its results."""
    text = product.search_description or plain_description(product.description)
    return SearchSnippet(
        _cut(product.search_title or product.name, SNIPPET_TITLE),
        f"{host} › p › {product.slug}",
        _cut(text, SNIPPET_TEXT),
    )


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def describe_product(product: Product, skus: Sequence[str], successor: str) -> dict[str, str]:
    """Return a product's values in words, keyed by the labels of its form.

    The values of its variants follow. `skus` are the SKUs of the related products, `successor` is the SKU of the product that
    succeeds it.
    """
    tree = queries.get_category_tree_with(*product.all_category_ids)

    def category(category_id: UUID) -> str:
        node = tree.by_id.get(category_id)
        return node.name if node else str(category_id)

    words = {
        "details": format_details(product.details),
        "category_id": category(product.category_id),
        "category_ids": ", ".join(sorted(category(each) for each in product.category_ids)),
        "tags": format_tags(product.tags),
        "related": "\n".join(skus),
        "successor": successor,
        "tax_class": str(TAX_LABELS.get(product.tax_class, product.tax_class)),
        "slug": product.slug,
        "unit": str(UNITS[product.unit].name) if product.unit in UNITS else product.unit,
    } | {name: _value_in_words(getattr(product, name)) for name in FIELD_COLUMNS}
    fields = ProductForm.base_fields
    described = {str(fields[name].label): words[name] for name in fields if name in words}
    options = list_used_options(product).items()
    described[_("Options")] = "\n".join(f"{name}: {join_list(values)}" for name, values in options)
    return described | _describe_variants(product)


def _describe_variants(product: Product) -> dict[str, str]:
    """Return the values of a product's variants in words, keyed by variant and column."""
    described = {}
    for variant in product.variants:
        start = f"{variant.label}, " if variant.label else ""
        for column in VALUES:
            described[f"{start}{column.label}"] = column.show(getattr(variant, column.name))
        described[f"{start}{_('Picture')}"] = variant.picture
        described[f"{start}{_('Available')}"] = _value_in_words(variant.sold)
    return described


def _value_in_words(value: Any) -> str:
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return _moment(value) if isinstance(value, datetime) else str(value or "")


def _moment(moment: datetime | None) -> str:
    return date_format(timezone.localtime(moment), "j F Y, H:i") if moment else ""


def describe_planned(points: Iterable[PricePoint]) -> str:
    """Return a description of planned prices, for the audit log."""
    return ", ".join(f"{each.price} {each.starts_at:%Y-%m-%d %H:%M}" for each in points) or "none"


def preview_url(product: Product, token: str) -> str:
    """Return a product's address with a token that lets its reader see the product before it is on sale."""
    return f"{reverse('product', args=(product.slug,))}?preview={token}"
