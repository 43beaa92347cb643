"""The feeds of products: Google Merchant Center's in XML and TSV, and an Atom feed of new products.

A job writes their files in one pass over all products; pages serve them. Memory holds a few products at a time.
"""

import csv
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import TextIO
from uuid import UUID
from xml.sax.saxutils import escape, quoteattr

from django.urls import reverse

from catalogue.entities import Product
from catalogue.share_images import find_share_image
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from jobs.rows import guard_row
from shop_settings.brand import get_brand
from storefront.feed_files import find_folder, replaced_file
from storefront.google_items import ATTRIBUTES, Item, list_items
from storefront.sitemap import find_last_change
from storefront.structured_data import absolute_url, summarize_product

# Prices and stock of a served file are at most an hour old: so long since the job began, and in a cache.
MAX_FEED_AGE_SECONDS, CACHE_SECONDS = 3000, 600
MAX_NEW_PRODUCTS = 50
GOOGLE_XML, GOOGLE_TSV, NEW_PRODUCTS = "google.xml", "google.tsv", "new.atom"
CONTENT_TYPES = {
    GOOGLE_XML: "application/xml",
    GOOGLE_TSV: "text/tab-separated-values; charset=utf-8",
    NEW_PRODUCTS: "application/atom+xml",
}
# The stock of this many products is read side by side.
_AT_ONCE = 50
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
# XML allows no such characters.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A spreadsheet takes such a beginning for a formula.
_FORMULA = re.compile(r"^[\s'=+\-@＝＋－＠]+")


def find_feed(name: str, now: datetime) -> Path | None:
    """Return the file of a feed, or None if there is no such feed, or no job has begun it for MAX_FEED_AGE_SECONDS."""
    file = find_folder("feeds") / name
    try:
        is_fresh = (
            name in CONTENT_TYPES and now.timestamp() - file.stat().st_mtime < MAX_FEED_AGE_SECONDS
        )
    except FileNotFoundError:
        return None
    return file if is_fresh else None


def write_feeds(products: Iterable[Product], now: datetime) -> int:
    """Write all feeds from all products, and return the number of items. Raises CassandraUnavailable and OSError."""
    folder, newest, count = find_folder("feeds"), _Newest(), 0
    with ExitStack() as stack:
        xml, tsv, atom = (
            stack.enter_context(replaced_file(folder / name)) for name in CONTENT_TYPES
        )
        table = csv.writer(tsv, "excel-tab", lineterminator="\n")
        table.writerow(ATTRIBUTES)
        xml.write(_google_head())
        for product, stock in _with_stock(products):
            with guard_row(f"feeds of product {product.product_id}"):
                items = list_items(product, stock, now)
                xml.writelines(map(_google_item, items))
                table.writerows(map(_table_line, items))
                count += len(items)
                if product.is_on_sale(now):
                    newest.add(product)
        xml.write("</channel></rss>\n")
        _write_atom(atom, newest.list_products(), now)
    for name in CONTENT_TYPES:
        os.utime(folder / name, (now.timestamp(), now.timestamp()))
    return count


def _with_stock(products: Iterable[Product]) -> Iterator[tuple[Product, dict[UUID, Stock]]]:
    """Yield each product with the stock of its variants, as its page reads it."""
    rest = iter(products)
    while part := list(islice(rest, _AT_ONCE)):
        reading = [(each, prefetch_stock(each.product_id)) for each in part]
        for product, pending in reading:
            yield product, stock_from_rows(pending.rows())


class _Newest:
    """The newest products among those that were added."""

    def __init__(self) -> None:
        self._found: list[tuple[datetime, str, Product]] = []

    def add(self, product: Product) -> None:
        if product.created_at:
            heappush(self._found, (product.created_at, product.product_id.hex, product))
            if len(self._found) > MAX_NEW_PRODUCTS:
                heappop(self._found)

    def list_products(self) -> list[Product]:
        return [product for _at, _id, product in sorted(self._found, reverse=True)]


def _text(text: str) -> str:
    return escape(_UNWRITABLE.sub("", text))


def _google_head() -> str:
    brand = get_brand()
    return (
        f'{_XML}<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n'
        f"<title>{_text(brand.name)}</title><link>{_text(absolute_url(reverse('home')))}</link>"
        f"<description>{_text(brand.tagline)}</description>\n"
    )


def _google_item(item: Item) -> str:
    values = (
        f"<g:{name}>{_text(text)}</g:{name}>" for name in ATTRIBUTES for text in item.get(name, ())
    )
    return f"<item>{''.join(values)}</item>\n"


def _table_line(item: Item) -> list[str]:
    """Return the cells of an item. Google reads several values between commas, and a spreadsheet reads no formula."""
    cells = (" ".join(",".join(item.get(name, ())).split()) for name in ATTRIBUTES)
    return [_FORMULA.sub("", _UNWRITABLE.sub("", each)) for each in cells]


def _write_atom(file: TextIO, products: Iterable[Product], now: datetime) -> None:
    page, own = (
        absolute_url(reverse("new_arrivals")),
        absolute_url(reverse("feed", args=(NEW_PRODUCTS,))),
    )
    name = _text(get_brand().name)
    file.write(
        f'{_XML}<feed xmlns="http://www.w3.org/2005/Atom">\n<id>{_text(page)}</id><title>{name}</title>'
        f"<updated>{_moment(now)}</updated><author><name>{name}</name></author>"
        f'<link rel="self" href={quoteattr(own)}/><link href={quoteattr(page)}/>\n'
    )
    for product in products:
        with guard_row(f"feeds of product {product.product_id}"):
            file.write(_atom_entry(product, now))
    file.write("</feed>\n")


def _atom_entry(product: Product, now: datetime) -> str:
    url = absolute_url(reverse("product", args=(product.slug,)))
    picture = next((each.picture for each in product.pictures), "")
    image = (
        f'<link rel="enclosure" type="image/jpeg" href={quoteattr(find_share_image(picture).url)}/>'
        if picture
        else ""
    )
    return (
        f"<entry><id>urn:uuid:{product.product_id}</id><title>{_text(product.name)}</title>"
        f"<published>{_moment(product.created_at or now)}</published>"
        f"<updated>{_moment(find_last_change(product, now) or now)}</updated>"
        f"<link href={quoteattr(url)}/>{image}<summary>{_text(summarize_product(product))}</summary></entry>\n"
    )


def _moment(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"
