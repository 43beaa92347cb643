"""The feeds of products: Google Merchant Center's in XML and TSV, and an Atom feed of new products.

A job writes Google's files in one pass over all products; pages serve them. Memory holds a few products at a time.
"""

import csv
import os
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from pathlib import Path
from uuid import UUID
from xml.sax.saxutils import escape

from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from catalogue.entities import Product
from catalogue.queries import list_featured
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from jobs.rows import guard_row
from pricing.templatetags.money import format_money
from shop_settings.brand import get_brand
from storefront.feed_files import find_folder, replaced_file
from storefront.google_items import ATTRIBUTES, Item, list_items
from storefront.structured_data import absolute_url

# Prices and stock of a served file are at most an hour old: so long since the job began, and in a cache.
MAX_FEED_AGE_SECONDS, CACHE_SECONDS = 3000, 600
GOOGLE_XML, GOOGLE_TSV = "google.xml", "google.tsv"
CONTENT_TYPES = {
    GOOGLE_XML: "application/xml",
    GOOGLE_TSV: "text/tab-separated-values; charset=utf-8",
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
    """Write Google's files from all products, and return the number of items. Raises CassandraUnavailable and OSError."""
    folder, count = find_folder("feeds"), 0
    with replaced_file(folder / GOOGLE_XML) as xml, replaced_file(folder / GOOGLE_TSV) as tsv:
        table = csv.writer(tsv, "excel-tab", lineterminator="\n")
        table.writerow(ATTRIBUTES)
        xml.write(_google_head())
        for product, stock in _with_stock(products):
            with guard_row(f"feeds of product {product.product_id}"):
                items = list_items(product, stock, now)
                xml.writelines(map(_google_item, items))
                table.writerows(map(_table_line, items))
                count += len(items)
        xml.write("</channel></rss>\n")
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


def render_new_products() -> str:
    """Return the Atom feed of new products, of the cards of the front page's row. Raises CassandraUnavailable."""
    brand = get_brand()
    feed = Atom1Feed(
        _UNWRITABLE.sub("", brand.name),
        absolute_url(reverse("new_arrivals")),
        _UNWRITABLE.sub("", brand.tagline),
        author_name=_UNWRITABLE.sub("", brand.name),
        feed_url=absolute_url(reverse("new_products")),
    )
    cards = sorted(list_featured("new_arrivals"), key=lambda card: card.created_at, reverse=True)
    for card in cards:
        # Readers take a summary for HTML.
        text = escape(", ".join(filter(None, (card.brand, format_money(card.price)))))
        feed.add_item(
            _UNWRITABLE.sub("", card.name),
            absolute_url(reverse("product", args=(card.slug,))),
            _UNWRITABLE.sub("", text),
            unique_id=f"urn:uuid:{card.product_id}",
            pubdate=card.created_at,
            updateddate=card.created_at,
        )
    return str(feed.writeString("utf-8"))
