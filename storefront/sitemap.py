"""The sitemap: a job writes its files beside the search index, and pages serve them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from xml.sax.saxutils import escape

from django.urls import reverse

from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import Product
from catalogue.templatetags.pictures import public_picture_url
from jobs.rows import guard_row
from storefront.feed_files import find_folder, replaced_file
from storefront.structured_data import absolute_url
from text_pages.queries import list_live_pages

# The protocol's limit on the addresses of one file. It allows 50 MB, but pages read a file as a whole.
MAX_SITEMAP_URLS = 50_000
MAX_SITEMAP_BYTES = 10_000_000
# The images of an address. The protocol allows 1,000.
MAX_IMAGES = 10
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
_IMAGES = "http://www.google.com/schemas/sitemap-image/1.1"
_HEAD = f'{_XML}<urlset xmlns="{_NAMESPACE}" xmlns:image="{_IMAGES}">\n'
_END = "</urlset>\n"
# An address, its last change, and its pictures.
SitemapEntry = tuple[str, datetime | None, Sequence[str]]


def _file(number: int = 0) -> Path:
    return find_folder("sitemap") / (f"sitemap-{number}.xml" if number else "sitemap.xml")


def find_sitemap_file(number: int = 0) -> Path | None:
    """Return a file of the sitemap (0: the first one), or None if no job has written it."""
    file = _file(number)
    return file if file.is_file() else None


def write_sitemap(products: Iterable[Product], now: datetime) -> int:
    """Write the sitemap from all products, and return its number of addresses.

    A category is as new as the last change in its list. If one file is too small, the first file is an index of the others.
    """
    entries = _list_addresses(products, now)
    count = number = 0
    while entry := next(entries, None):
        number += 1
        count += _write_part(_file(number), chain([entry], entries), now)
    if number == 1:
        _file(1).replace(_file())
        return count
    with replaced_file(_file(), now) as file:
        file.write(_index(number, now))
    return count


def _write_part(path: Path, entries: Iterable[SitemapEntry], now: datetime) -> int:
    """Write entries into a file until it is full; return how many."""
    size = count = 0
    with replaced_file(path, now) as file:
        file.write(_HEAD)
        for count, entry in enumerate(entries, start=1):
            size += file.write(_render(entry))
            if count == MAX_SITEMAP_URLS or size > MAX_SITEMAP_BYTES:
                break
        file.write(_END)
    return count


def render_small_sitemap() -> str:
    """Return a sitemap without products, for a shop whose job has not run yet."""
    return f"{_HEAD}{''.join(map(_render, _list_addresses((), current_time())))}{_END}"


def _list_addresses(products: Iterable[Product], now: datetime) -> Iterator[SitemapEntry]:
    """Yield each address with its last change and pictures. Categories come last: their products decide when they changed."""
    for name in ("home", "new_arrivals", "deals"):
        yield reverse(name), None, ()
    for page in list_live_pages():
        yield page.get_absolute_url(), page.live_from if page.number else None, ()
    tree = queries.get_category_tree()
    changed_at: dict[str, datetime] = {}
    for product in products:
        with guard_row(f"sitemap entry of product {product.product_id}"):
            at = find_last_change(product, now)
            if product.is_on_sale(now):
                pictures = [each.picture for each in product.pictures[:MAX_IMAGES]]
                yield reverse("product", args=(product.slug,)), at, pictures
            if at is None:
                continue
            # A product that is no longer sold has changed its lists, too.
            nodes = (
                tree.by_id[each].path for each in product.all_category_ids if each in tree.by_id
            )
            for node in chain.from_iterable(nodes):
                changed_at[node.slug] = max(at, changed_at.get(node.slug, at))
    for slug in sorted(tree.by_slug):
        yield reverse("category", args=(slug,)), changed_at.get(slug), ()


def find_last_change(product: Product, now: datetime) -> datetime | None:
    """Return the moment of a product's last change: by a save, or at a planned moment."""
    planned = (each for each in product.moments if each <= now)
    return max(filter(None, (product.updated_at, *planned)), default=None)


def _render(entry: SitemapEntry) -> str:
    address, at, pictures = entry
    images = (
        f"<image:image><image:loc>{escape(public_picture_url(each))}</image:loc></image:image>"
        for each in pictures
    )
    return f"<url><loc>{escape(absolute_url(address))}</loc>{_lastmod(at)}{''.join(images)}</url>\n"


def _index(files: int, now: datetime) -> str:
    lines = (
        f"<sitemap><loc>{escape(absolute_url(reverse('sitemap_part', args=(number,))))}</loc>{_lastmod(now)}</sitemap>"
        for number in range(1, files + 1)
    )
    return f'{_XML}<sitemapindex xmlns="{_NAMESPACE}">\n' + "\n".join(lines) + "\n</sitemapindex>\n"


def _lastmod(at: datetime | None) -> str:
    return f"<lastmod>{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</lastmod>" if at else ""
