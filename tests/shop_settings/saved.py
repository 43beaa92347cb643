"""Settings that a test saves: other tests of the run see those of a new shop again."""

from collections.abc import Iterator

import pytest

from cassandra_db.session import get_session
from shop_settings.queries import clear_settings_cache
from tests.environment import KEYSPACE


@pytest.fixture
def own_settings() -> Iterator[None]:
    """Let a test save settings, and take them away after it."""
    yield
    get_session().execute(f"DELETE FROM {KEYSPACE}.shop_settings WHERE shop = 'shop'")  # noqa: S608
    clear_settings_cache()
