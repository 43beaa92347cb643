"""Where the addresses of a former shop lead: to the product that has an address, or as staff entered it."""

import re
from datetime import datetime
from zlib import crc32

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from cassandra_db import PendingResult, Row, read, write
from catalogue.errors import RedirectRefused
from catalogue.menu_links import InvalidTarget, find_target, find_target_url
from catalogue.old_addresses import normalize_path
from catalogue.queries import find_product_id_by_slug, get_product, prefetch_product_id_at_quorum

# Paths are spread evenly, so one shard is as full as the others: 64,000 redirects in all.
SHARDS, MAX_IN_SHARD = 32, 2000
REDIRECT = read("Q31", "SELECT target FROM redirects WHERE shard = :shard AND path = :path")
REDIRECTS = read(
    "Q31", "SELECT path, target FROM redirects WHERE shard = :shard AND path >= :first LIMIT :most"
)
SAVE_REDIRECT = write(
    "Q31", "INSERT INTO redirects (shard, path, target) VALUES (:shard, :path, :target)"
)
DELETE_REDIRECT = write("Q31", "DELETE FROM redirects WHERE shard = :shard AND path = :path")
# Most shops name a product's page by a slug, which an import keeps: /collections/cups/products/mug, /product/mug.html
_PRODUCT = re.compile(r"^(?:/[^/]+)*/products?/([^/]+?)(?:\.html?)?$")


def _key(path: str) -> dict[str, str | int]:
    return {"shard": crc32(path.encode()) % SHARDS, "path": path}


def parse_old_address(typed: str) -> str:
    """Return the path of an old address. No page and no product has it, so no redirect leads to a redirect.

    Raises RedirectRefused and CassandraUnavailable.
    """
    path = normalize_path(typed)
    if not path:
        raise RedirectRefused(_("Enter an old address such as /products/mug."))
    for address in (path, f"{path}/"):
        try:
            find_target(address)
        except InvalidTarget:
            continue
        raise RedirectRefused(_("The shop has a page at this address."))
    if find_product_id_by_slug(path):
        raise RedirectRefused(_("This is the old address of a product."))
    return path


def parse_new_address(typed: str) -> str:
    """Return the target (catalogue.menu_links) of the address of a page of this shop. Raises RedirectRefused and CassandraUnavailable."""
    address = typed.removeprefix(settings.PUBLIC_URL)
    if not address.startswith("/"):
        raise RedirectRefused(_("Enter an address of the shop, such as /c/mugs/."))
    try:
        return find_target(address)
    except InvalidTarget as invalid:
        raise RedirectRefused(f"{invalid}.") from invalid


def save_redirect(path: str, target: str) -> None:
    """Add a redirect, or change the one of its path; a repeat changes nothing. Raises RedirectRefused and CassandraUnavailable."""
    key = _key(path)
    if not get_redirect(path):
        stored = REDIRECTS.all(shard=key["shard"], first="", most=MAX_IN_SHARD)
        if len(stored) >= MAX_IN_SHARD:
            raise RedirectRefused(_("There are too many redirects. Remove some first."))
    SAVE_REDIRECT.run(**key, target=target)


def remove_redirect(path: str) -> None:
    """Remove the redirect of a path; a repeat changes nothing. Raises CassandraUnavailable."""
    DELETE_REDIRECT.run(**_key(path))


def prefetch_redirect(path: str) -> PendingResult:
    """Start reading the redirect of a path; its row has the target."""
    return REDIRECT.start(**_key(path))


def get_redirect(path: str) -> str:
    """Return the target of the redirect of a path, or "". Raises CassandraUnavailable."""
    row = prefetch_redirect(path).one()
    return str(row.target) if row else ""


def list_redirects(first: str, most: int) -> list[Row]:
    """Return the first `most` redirects from the path `first` on; a row has path and target. Raises CassandraUnavailable."""
    reading = [REDIRECTS.start(shard=shard, first=first, most=most) for shard in range(SHARDS)]
    rows = (row for pending in reading for row in pending.rows())
    return sorted(rows, key=lambda row: row.path)[:most]


def find_new_address(address: str, now: datetime) -> str:
    """Return the address to which an address without a page leads, or "". Raises CassandraUnavailable."""
    if not (path := normalize_path(address)):
        return ""
    names = (path, _PRODUCT.sub(r"\1", path))
    reading = [prefetch_redirect(path), *map(prefetch_product_id_at_quorum, names)]
    redirect, own, named = [pending.one() for pending in reading]
    if redirect and not own:
        return find_target_url(redirect.target)
    found = own or named
    product = get_product(found.product_id) if found else None
    if product is None or product.is_to_come(now):
        return ""
    return reverse("product", args=(product.slug,))
