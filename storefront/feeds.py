"""The feeds of products: Google Merchant Center's in XML and TSV, and an Atom feed of new products.

A job writes Google's files in one pass over all products; pages serve them. Memory holds a few products at a time.
"""

import csv
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from uuid import UUID
from xml.sax.saxutils import escape

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse

from catalogue.entities import Product
from catalogue.queries import list_featured
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from jobs.rows import guard_row
from shop_settings.brand import get_brand
from storefront.feed_files import find_folder, replaced_file
from storefront.google_items import ATTRIBUTES, Item, list_items
from storefront.structured_data import absolute_url

# Prices and stock of a served file are at most an hour old: so long since the job began, and in a cache.
MAX_FEED_AGE_SECONDS, CACHE_SECONDS = 3000, 600
CONTENT_TYPES = {
    "google.xml": "application/xml",
    "google.tsv": "text/tab-separated-values; charset=utf-8",
}
# The stock of this many products is read side by side.
_AT_ONCE = 50
# XML allows no such characters.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def find_feed(name: str, now: datetime) -> Path | None:
    """Return the file of a feed, or None if no job has begun it for MAX_FEED_AGE_SECONDS."""
    file = find_folder("feeds") / name
    is_there = file.is_file() and now.timestamp() - file.stat().st_mtime < MAX_FEED_AGE_SECONDS
    return file if is_there else None


def write_feeds(products: Iterable[Product], now: datetime) -> int:
    """Write Google's files from all products, and return the number of items. Raises CassandraUnavailable and OSError."""
    files = [find_folder("feeds") / name for name in CONTENT_TYPES]
    brand, count = get_brand(), 0
    with replaced_file(files[0], now) as xml, replaced_file(files[1], now) as tsv:
        table = csv.writer(tsv, "excel-tab", lineterminator="\n")
        table.writerow(ATTRIBUTES)
        xml.write(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            '<rss version="2.0" xmlns:g="http://base.google.com/ns/1.0"><channel>\n'
            f"<title>{_escape(brand.name)}</title><link>{absolute_url(reverse('home'))}</link>"
            f"<description>{_escape(brand.tagline)}</description>\n"
        )
        for product, stock in _with_stock(products):
            with guard_row(f"feeds of product {product.product_id}"):
                items = list_items(product, stock, now)
                xml.writelines(map(_xml_item, items))
                table.writerows(map(_table_line, items))
                count += len(items)
        xml.write("</channel></rss>\n")
    return count


def _with_stock(products: Iterable[Product]) -> Iterator[tuple[Product, dict[UUID, Stock]]]:
    """Yield each product with the stock of its variants, as its page reads it."""
    rest = iter(products)
    while part := list(islice(rest, _AT_ONCE)):
        reading = [(each, prefetch_stock(each.product_id)) for each in part]
        for product, pending in reading:
            yield product, stock_from_rows(pending.rows())


def _escape(text: str) -> str:
    return escape(_UNWRITABLE.sub("", text))


def _xml_item(item: Item) -> str:
    values = (
        f"<g:{name}>{_escape(text)}</g:{name}>"
        for name in ATTRIBUTES
        for text in item.get(name, ())
    )
    return f"<item>{''.join(values)}</item>\n"


def _table_line(item: Item) -> list[str]:
    """Return the cells of an item. Several values have commas between, and no cell has a line break or a tab."""
    cells = (",".join(item.get(name, ())) for name in ATTRIBUTES)
    return [" ".join(each.split()) for each in cells]


def render_new_products(now: datetime) -> str:
    """Return the Atom feed of new products, of the cards of the front page's row. Raises CassandraUnavailable."""
    cards = list_featured("new_arrivals")
    context = {
        "brand": get_brand(),
        "shop": settings.PUBLIC_URL,
        "cards": cards,
        "updated_at": max((card.created_at for card in cards), default=now),
    }
    return _UNWRITABLE.sub("", render_to_string("storefront/new.atom", context))
