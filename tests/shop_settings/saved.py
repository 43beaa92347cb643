"""Settings that a test saves: other tests of the run see those of a new shop again."""

from collections.abc import Iterator

import pytest

from cassandra_db.session import get_session
from consistency.shop_settings import KINDS
from shop_settings.queries import settings_copy
from tests.environment import KEYSPACE


@pytest.fixture
def own_settings() -> Iterator[None]:
    """Let a test save settings: it begins with those of a new shop, whatever others have saved, and leaves none."""
    _delete_settings()
    yield
    _delete_settings()


def _delete_settings() -> None:
    for partition in {kind.partition for kind in KINDS.values()}:
        get_session().execute(
            f"DELETE FROM {KEYSPACE}.shop_settings WHERE shop = '{partition}'"  # noqa: S608
        )
        settings_copy(partition).forget()
