"""Redirects: where the addresses of a former shop lead, as staff enter them. Products have old addresses of their own."""

from dataclasses import dataclass
from datetime import datetime
from zlib import crc32

from django.conf import settings
from django.utils.translation import gettext as _

from cassandra_db import PendingResult, read, write
from catalogue.errors import RedirectRefused
from catalogue.menu_links import InvalidTarget, find_target, find_target_url
from catalogue.old_addresses import normalize_path
from catalogue.queries import find_product_id_by_slug
from web.text import clean_text

SHARDS = 32
# The redirects of a shard: 128,000 in all. Paths are spread evenly, so one shard is as full as the others.
MAX_IN_SHARD = 4000
REDIRECT = read("Q31", "SELECT target FROM redirects WHERE shard = :shard AND path = :path")
REDIRECTS = read(
    "Q31",
    "SELECT path, target, changed_at FROM redirects WHERE shard = :shard AND path > :after LIMIT :most",
)
SAVE_REDIRECT = write(
    "Q31",
    "INSERT INTO redirects (shard, path, target, changed_at) VALUES (:shard, :path, :target, :now)",
)
DELETE_REDIRECT = write("Q31", "DELETE FROM redirects WHERE shard = :shard AND path = :path")


@dataclass(frozen=True)
class Redirect:
    """A path of a former shop, and the target to which it leads (catalogue.menu_links)."""

    path: str
    target: str
    changed_at: datetime | None = None  # None: not saved yet

    @property
    def address(self) -> str:
        """The address of the target now; "" if it is gone. Reading it raises CassandraUnavailable."""
        return find_target_url(self.target)


def _shard(path: str) -> int:
    return crc32(path.encode()) % SHARDS


def _key(path: str) -> dict[str, str | int]:
    return {"shard": _shard(path), "path": path}


def make_redirect(old_address: str, new_address: str) -> Redirect:
    """Return the redirect between two typed addresses. Raises RedirectRefused and CassandraUnavailable.

    The old one has no page, and the new one has one. So no redirect leads to another redirect, or out of the shop.
    """
    path = normalize_path(old_address)
    address = clean_text(new_address).strip().removeprefix(settings.PUBLIC_URL)
    if not path:
        raise RedirectRefused(_("Enter an old address such as /products/mug."), "old_address")
    if _has_page(path) or _has_page(f"{path}/"):
        raise RedirectRefused(_("The shop has a page at this address."), "old_address")
    if find_product_id_by_slug(path):
        raise RedirectRefused(_("This is the old address of a product."), "old_address")
    if not address.startswith("/"):
        text = _("Enter an address of the shop, such as /c/mugs/.")
        raise RedirectRefused(text, "new_address")
    try:
        return Redirect(path, find_target(address))
    except InvalidTarget as invalid:
        raise RedirectRefused(f"{invalid}.", "new_address") from invalid


def _has_page(address: str) -> bool:
    try:
        find_target(address)
    except InvalidTarget:
        return False
    return True


def is_full(path: str) -> bool:
    """Return whether the shop has no room for the redirect of another path. Raises CassandraUnavailable."""
    rows = REDIRECTS.all(shard=_shard(path), after="", most=MAX_IN_SHARD)
    return len(rows) >= MAX_IN_SHARD


def save_redirect(redirect: Redirect, now: datetime) -> None:
    """Add a redirect, or change the one of its path; a repeat changes nothing. Raises CassandraUnavailable."""
    SAVE_REDIRECT.run(**_key(redirect.path), target=redirect.target, now=now)


def remove_redirect(path: str) -> None:
    """Remove the redirect of a path; a repeat changes nothing. Raises CassandraUnavailable."""
    DELETE_REDIRECT.run(**_key(path))


def prefetch_redirect(path: str) -> PendingResult:
    """Start reading the redirect of a path; its row has the target."""
    return REDIRECT.start(**_key(path))


def get_redirect(path: str) -> Redirect | None:
    """Return the redirect of a path, or None. Raises CassandraUnavailable."""
    row = prefetch_redirect(path).one()
    return Redirect(path, row.target) if row else None


def list_redirects(after: str, most: int) -> list[Redirect]:
    """Return at most `most` redirects whose paths come after `after`, sorted by path. Raises CassandraUnavailable."""
    reading = [REDIRECTS.start(shard=shard, after=after, most=most) for shard in range(SHARDS)]
    rows = (row for pending in reading for row in pending.rows())
    found = (Redirect(row.path, row.target, row.changed_at) for row in rows)
    return sorted(found, key=lambda each: each.path)[:most]
