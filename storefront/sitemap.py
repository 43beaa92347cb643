"""The sitemap: files that a job writes from a scan, beside the search index; the pages only hand them out."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from uuid import uuid4
from xml.sax.saxutils import escape

from django.conf import settings
from django.urls import reverse

from cassandra_db import current_time
from cassandra_db.session import keyspace_name
from catalogue import queries
from catalogue.entities import Product
from storefront.structured_data import absolute_url

# What the protocol allows in one file.
MAX_SITEMAP_URLS = 50_000
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
_NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"

SitemapEntry = tuple[str, datetime | None]


def sitemap_folder() -> Path:
    """Return the folder of this shop's sitemap."""
    return Path(settings.SEARCH_INDEX_DIR) / keyspace_name() / "sitemap"


def find_sitemap_file(number: int = 0) -> Path | None:
    """Return a file of the sitemap (0: the one to begin with), or None if no job has written it."""
    file = sitemap_folder() / (f"sitemap-{number}.xml" if number else "sitemap.xml")
    return file if file.is_file() else None


def write_sitemap(products: Iterable[Product], now: datetime) -> int:
    """Write the sitemap from all products, and return how many addresses it holds.

    Each file is replaced in one go. With more than 50,000 addresses the first file is an index of the others.
    """
    sitemap_folder().mkdir(parents=True, exist_ok=True)
    addresses = iter([*list_shop_addresses(), *_product_addresses(products)])
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
    return _urlset(list_shop_addresses())


def list_shop_addresses() -> list[SitemapEntry]:
    """Return the addresses that are no product's."""
    categories = queries.get_category_tree().by_slug
    plain = [reverse(name) for name in ("home", "new_arrivals", "deals", "help", "delivery")]
    return [
        (address, None)
        for address in (*plain, *(reverse("category", args=(slug,)) for slug in sorted(categories)))
    ]


def _product_addresses(products: Iterable[Product]) -> Iterator[SitemapEntry]:
    for product in products:
        if product.is_on_sale(current_time()):
            yield reverse("product", args=(product.slug,)), product.updated_at


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
