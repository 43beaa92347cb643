"""The sitemap: a job writes its files beside the search index, and pages serve them."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from uuid import uuid4
from xml.sax.saxutils import escape

from django.conf import settings
from django.urls import reverse

from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from catalogue import queries
from catalogue.entities import Product
from jobs.rows import guard_row
from storefront.structured_data import absolute_url
from text_pages.queries import list_live_pages

# The protocol's limit on the addresses of one file.
MAX_SITEMAP_URLS = 50_000
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SitemapEntry = tuple[str, datetime | None]


def sitemap_folder() -> Path:
    """Return the folder of this shop's sitemap."""
    return Path(settings.SEARCH_INDEX_DIR) / keyspace_name() / "sitemap"


def find_sitemap_file(number: int = 0) -> Path | None:
    """Return a file of the sitemap (0: the first one), or None if no job has written it."""
    file = sitemap_folder() / (f"sitemap-{number}.xml" if number else "sitemap.xml")
    return file if file.is_file() else None


def write_sitemap(products: Iterable[Product], now: datetime) -> int:
    """Write the sitemap from all products, and return its number of addresses.

    A category is as new as the last change in its list. With more than MAX_SITEMAP_URLS the first file is an index of the others.
    """
    sitemap_folder().mkdir(parents=True, exist_ok=True)
    addresses = _list_addresses(products, now)
    count, files = 0, []
    while part := list(islice(addresses, MAX_SITEMAP_URLS)):
        files.append(_urlset(part))
        count += len(part)
    if len(files) == 1:
        _replace("sitemap.xml", files[0])
    else:
        for number, text in enumerate(files, start=1):
            _replace(f"sitemap-{number}.xml", text)
        _replace("sitemap.xml", _index(len(files), now))
    return count


def render_small_sitemap() -> str:
    """Return a sitemap without products, for a shop whose job has not run yet."""
    return _urlset(_list_addresses((), current_time()))


def _list_addresses(products: Iterable[Product], now: datetime) -> Iterator[SitemapEntry]:
    """Yield each address with its last change. Categories come last: their products decide when they changed."""
    for name in ("home", "new_arrivals", "deals"):
        yield reverse(name), None
    for page in list_live_pages():
        yield page.get_absolute_url(), page.live_from if page.number else None
    tree = queries.get_category_tree()
    changed_at: dict[str, datetime] = {}
    for product in products:
        with guard_row(f"sitemap entry of product {product.product_id}"):
            at = find_last_change(product, now)
            if product.is_on_sale(now):
                yield reverse("product", args=(product.slug,)), at
            if at is None:
                continue
            # A product that is no longer sold has changed its lists, too.
            nodes = (
                tree.by_id[each].path for each in product.all_category_ids if each in tree.by_id
            )
            for node in chain.from_iterable(nodes):
                changed_at[node.slug] = max(at, changed_at.get(node.slug, at))
    for slug in sorted(tree.by_slug):
        yield reverse("category", args=(slug,)), changed_at.get(slug)


def find_last_change(product: Product, now: datetime) -> datetime | None:
    """Return the moment of a product's last change: by a save, or at a planned moment."""
    planned = (each for each in product.moments if each <= now)
    return max(filter(None, (product.updated_at, *planned)), default=None)


def _urlset(addresses: Iterable[SitemapEntry]) -> str:
    lines = (
        f"<url><loc>{escape(absolute_url(address))}</loc>{_lastmod(at)}</url>"
        for address, at in addresses
    )
    return f'{_XML}<urlset xmlns="{_NAMESPACE}">\n' + "\n".join(lines) + "\n</urlset>\n"


def _index(files: int, now: datetime) -> str:
    lines = (
        f"<sitemap><loc>{escape(absolute_url(reverse('sitemap_part', args=(number,))))}</loc>{_lastmod(now)}</sitemap>"
        for number in range(1, files + 1)
    )
    return f'{_XML}<sitemapindex xmlns="{_NAMESPACE}">\n' + "\n".join(lines) + "\n</sitemapindex>\n"


def _lastmod(at: datetime | None) -> str:
    return f"<lastmod>{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}</lastmod>" if at else ""


def _replace(name: str, text: str) -> None:
    beside = sitemap_folder() / f"{name}.{uuid4().hex}"
    beside.write_text(text)
    beside.replace(sitemap_folder() / name)
