"""Reads pages of text: which version is live, and the texts of versions."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

from cassandra_db import CassandraUnavailable, Row, current_time, read
from shop_settings.queries import get_settings
from text_pages.errors import NoSuchPageVersion
from text_pages.pages import (
    MAX_VERSIONS,
    TERMS_PAGE,
    TEXT_PAGES,
    PageHead,
    PageVersion,
    TextPage,
    find_page_at,
    list_first_pages,
    read_first_version,
)

VERSIONS_AT_ONCE = 30

# A version of a page.
VERSION = read(
    "text pages",
    """SELECT number, slug, title, description, text, author_id, saved_at, live_from FROM text_page_versions
       WHERE page = :page AND number = :number""",
)
# A page's versions below a number, the newest first, without their texts.
VERSIONS = read(
    "text pages",
    """SELECT number, slug, title, description, author_id, saved_at, live_from FROM text_page_versions
       WHERE page = :page AND number < :below LIMIT :most""",
)


def get_text_pages() -> Mapping[str, TextPage]:
    """Return the shop's pages by key, for links to them. While Cassandra is away, and nothing was read, return the first ones."""
    try:
        return get_settings().get_values(TEXT_PAGES)
    except CassandraUnavailable:
        return list_first_pages()


def find_live_page(slug: str) -> tuple[TextPage, PageHead] | None:
    """Return the page that is or was at this slug, with the head of its live version, or None. Raises CassandraUnavailable."""
    return find_page_at(get_settings().get_values(TEXT_PAGES).values(), slug, current_time())


def list_live_pages() -> Sequence[PageHead]:
    """Return the titles and addresses of the pages that shoppers can read now, the shop's first pages first."""
    now = current_time()
    pages = sorted(get_text_pages().values(), key=lambda each: not each.is_required)
    return [head for each in pages if (head := each.find_live(now))]


def get_terms_version(now: datetime) -> int:
    """Return the number of the version of the terms that is in force. Raises CassandraUnavailable."""
    live = get_settings().get_values(TEXT_PAGES)[TERMS_PAGE].find_live(now)
    return live.number if live else 0


def version_from_row(row: Row, text: str) -> PageVersion:
    """Return the version in a row of VERSION or VERSIONS."""
    head = PageHead(row.number, row.slug, row.title, row.description, row.live_from)
    return PageVersion(head, text, row.author_id, row.saved_at)


@lru_cache(maxsize=128)
def get_page_version(key: str, number: int) -> PageVersion:
    """Return a version of a page. It never changes, so it is read once. Raises NoSuchPageVersion, CassandraUnavailable."""
    if number == 0:
        try:
            return read_first_version(key)
        except FileNotFoundError as error:
            raise NoSuchPageVersion from error
    if not 0 < number <= MAX_VERSIONS:  # Cassandra's integers are shorter than those of an address
        raise NoSuchPageVersion
    row = VERSION.one(page=key, number=number)
    if row is None:
        raise NoSuchPageVersion
    return version_from_row(row, row.text)


def list_page_versions(key: str, below: int, most: int = VERSIONS_AT_ONCE) -> Sequence[PageVersion]:
    """Return a page's saved versions with numbers below `below`, newest first, without their texts. Raises CassandraUnavailable."""
    return [version_from_row(row, "") for row in VERSIONS.all(page=key, below=below, most=most)]
