"""Where the addresses of a former shop lead: to the product that has an address, or as staff entered it."""

import re
from collections import Counter
from contextlib import suppress
from datetime import datetime
from zlib import crc32

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, Outcome, PendingResult, Row, conditional_write, read
from catalogue.errors import RedirectChanged, RedirectRefused
from catalogue.menu_links import InvalidTarget, find_target, find_target_url
from catalogue.old_addresses import normalize_path
from catalogue.queries import find_product_id_by_slug, get_product, prefetch_product_id_at_quorum

# Paths are spread evenly, so one shard is as full as the others: 64,000 redirects in all.
SHARDS, MAX_IN_SHARD = 32, 2000
REDIRECT = read("Q31", "SELECT target FROM redirects WHERE shard = :shard AND path = :path")
REDIRECTS = read(
    "Q31", "SELECT path, target FROM redirects WHERE shard = :shard AND path >= :first LIMIT :most"
)
SAVE_REDIRECT = conditional_write(
    "Q31",
    "UPDATE redirects SET target = :target WHERE shard = :shard AND path = :path IF target = :seen",
)
DELETE_REDIRECT = conditional_write(
    "Q31", "DELETE FROM redirects WHERE shard = :shard AND path = :path IF target = :seen"
)
# A process counts a shard again before it adds more redirects than these.
ADDED_UNCOUNTED = 100
_room: Counter[int] = Counter()
# Most shops name a product's page by a slug, which an import keeps: /collections/cups/products/mug, /product/mug.html
_PRODUCT = re.compile(r"^(?:/[^/]+)*/products?/([^/]+?)(?:\.html?)?$")


def _shard(path: str) -> int:
    return crc32(path.encode()) % SHARDS


def has_page(path: str) -> bool:
    """Return whether the shop itself has a page at a path, perhaps of a product to come. Raises CassandraUnavailable."""
    for address in (path, f"{path}/"):
        with suppress(InvalidTarget):
            find_target(address)
            return True
    return False


def parse_old_address(typed: str) -> str:
    """Return the path of an old address. No page and no product has it, so no redirect leads to a redirect.

    Raises RedirectRefused and CassandraUnavailable.
    """
    path = normalize_path(typed)
    if not path:
        raise RedirectRefused(_("Enter an old address such as /products/mug."))
    if has_page(path):
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


def save_redirect(path: str, target: str, seen: str = "") -> None:
    """Add a redirect, or change the one that leads to the target `seen`; a repeat changes nothing.

    Raises RedirectChanged if it leads elsewhere by now. Also raises RedirectRefused, CassandraUnavailable.
    """
    shard = _shard(path)
    if not seen:
        if _room[shard] <= 0:
            stored = REDIRECTS.all(shard=shard, first="", most=MAX_IN_SHARD)
            _room[shard] = min(MAX_IN_SHARD - len(stored), ADDED_UNCOUNTED)
        if _room[shard] <= 0:
            raise RedirectRefused(_("There are too many redirects. Remove some first."))
        _room[shard] -= 1
    key = {"shard": shard, "path": path, "seen": seen or None}
    _require(target, SAVE_REDIRECT.apply(if_lost=SEND_AGAIN, **key, target=target))


def remove_redirect(path: str, seen: str) -> bool:
    """Remove the redirect of a path to the target `seen`. Return False if there was none.

    Raises RedirectChanged if it leads elsewhere by now. Also raises CassandraUnavailable.
    """
    outcome = DELETE_REDIRECT.apply(if_lost=SEND_AGAIN, shard=_shard(path), path=path, seen=seen)
    _require("", outcome)
    return outcome.applied


def _require(target: str, outcome: Outcome) -> None:
    """Raise RedirectChanged if a write was refused, and not because the redirect leads to the target already."""
    present = outcome.current.target if outcome.current else ""
    if not outcome and present != target:
        raise RedirectChanged(present, find_target_url(present) if present else "")


def prefetch_redirect(path: str) -> PendingResult:
    """Start reading the redirect of a path; its row has the target."""
    return REDIRECT.start(shard=_shard(path), path=path)


def get_redirect(path: str) -> str:
    """Return the target of the redirect of a path, or "". Raises CassandraUnavailable."""
    row = prefetch_redirect(path).one()
    return str(row.target) if row else ""


def list_redirects(first: str, most: int) -> list[Row]:
    """Return the first `most` redirects from the path `first` on; a row has path and target. Raises CassandraUnavailable."""
    reading = [REDIRECTS.start(shard=shard, first=first, most=most) for shard in range(SHARDS)]
    rows = (row for pending in reading for row in pending.rows())
    return sorted(rows, key=lambda row: row.path)[:most]


def find_new_address(path: str, now: datetime) -> str:
    """Return the address to which a path without a page leads, or "". Raises CassandraUnavailable."""
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
