"""Cassandra goes away, and comes back: the shop says so politely and recovers by itself."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.conf import settings

from tests.web_server import CassandraProxy, fetch_page, serve_shop


@pytest.fixture
def cable() -> Iterator[CassandraProxy]:
    database = settings.DATABASES["default"]
    made = CassandraProxy(database["HOST"].split(",")[0], database["OPTIONS"]["connection"]["port"])
    yield made
    made.disconnect()


def polite(status: int, headers: Mapping[str, str], text: str) -> bool:
    return (
        status == 503
        and int(headers["Retry-After"]) > 0
        and "<h1" in text
        and "Traceback" not in text
    )


def test_x17_it_starts_without_cassandra_and_opens_when_it_comes(
    cable: CassandraProxy, tmp_path: Path
) -> None:
    with serve_shop(tmp_path, CASSANDRA_HOSTS="127.0.0.1", CASSANDRA_PORT=str(cable.port)) as shop:
        assert polite(*fetch_page(f"{shop}/", until=503))
        assert fetch_page(f"{shop}/healthz")[0] == 200
        assert fetch_page(f"{shop}/readyz")[0] == 503
        cable.connect()
        assert fetch_page(f"{shop}/", until=200)[0] == 200
        assert fetch_page(f"{shop}/readyz", until=200)[0] == 200


def test_x17_cassandra_goes_away_and_comes_back(cable: CassandraProxy, tmp_path: Path) -> None:
    cable.connect()
    with serve_shop(tmp_path, CASSANDRA_HOSTS="127.0.0.1", CASSANDRA_PORT=str(cable.port)) as shop:
        assert fetch_page(f"{shop}/", until=200)[0] == 200
        cable.disconnect()
        assert polite(*fetch_page(f"{shop}/p/anything/", until=503))
        # The login needs the tree of categories alone, which each process keeps for half a minute.
        login = fetch_page(f"{shop}/account/login/?next=/")
        assert login[0] == 200 or polite(*login)
        cable.connect()
        assert fetch_page(f"{shop}/", until=200)[0] == 200
