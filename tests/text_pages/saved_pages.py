"""Pages of text that a test saves: other tests of the run see those of a new shop again."""

from collections.abc import Iterator
from uuid import UUID

import pytest

from cassandra_db import current_time
from cassandra_db.session import get_session
from shop_settings.queries import get_settings_at_quorum
from tests.environment import KEYSPACE
from tests.shop_settings.saved import own_settings
from text_pages.operations import save_page
from text_pages.pages import TEXT_PAGES, PageHead, PageVersion, TextPage
from text_pages.queries import get_page_version
from web.text_cache import FRAGMENTS, WHOLE_PAGES

__all__ = ["own_pages", "own_settings"]
ADA = UUID(int=1)


@pytest.fixture
def own_pages(own_settings: None) -> Iterator[None]:
    """Let a test save pages, and take them and their versions away after it."""
    yield
    get_session().execute(f"TRUNCATE {KEYSPACE}.text_page_versions")
    for cache in (FRAGMENTS, WHOLE_PAGES):
        cache.clear()
    get_page_version.cache_clear()


def get_page(key: str) -> TextPage:
    return get_settings_at_quorum().get_values(TEXT_PAGES)[key]


def make_version(number: int, slug: str = "terms", **changes: object) -> PageVersion:
    """A version that Ada has typed: live at once, unless `live_from` says when."""
    now = current_time()
    values = {"title": "Terms of sale", "description": "Ours", "live_from": now} | changes
    text = str(values.pop("text", f"Text {number}"))
    return PageVersion(PageHead(number=number, slug=slug, **values), text, ADA, now)  # type: ignore[arg-type]


def save(key: str, number: int, slug: str = "terms", **changes: object) -> TextPage:
    return save_page(key, make_version(number, slug, **changes), current_time())
