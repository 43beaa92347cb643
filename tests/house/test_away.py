"""Cassandra goes away, and comes back: the shop says so politely and recovers by itself."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from django.conf import settings

from tests.serving import Cable, answer, served


@pytest.fixture
def cable() -> Iterator[Cable]:
    database = settings.DATABASES["default"]
    made = Cable(database["HOST"].split(",")[0], database["OPTIONS"]["connection"]["port"])
    yield made
    made.pull_out()


def polite(status: int, headers: Mapping[str, str], text: str) -> bool:
    return (
        status == 503
        and int(headers["Retry-After"]) > 0
        and "<h1" in text
        and "Traceback" not in text
    )


def test_x17_it_starts_without_cassandra_and_opens_when_it_comes(
    cable: Cable, tmp_path: Path
) -> None:
    with served(tmp_path, CASSANDRA_HOSTS="127.0.0.1", CASSANDRA_PORT=str(cable.port)) as shop:
        assert polite(*answer(f"{shop}/", until=503))
        assert answer(f"{shop}/healthz")[0] == 200
        assert answer(f"{shop}/readyz")[0] == 503
        cable.plug_in()
        assert answer(f"{shop}/", until=200)[0] == 200
        assert answer(f"{shop}/readyz")[0] == 200


def test_x17_cassandra_goes_away_and_comes_back(cable: Cable, tmp_path: Path) -> None:
    cable.plug_in()
    with served(tmp_path, CASSANDRA_HOSTS="127.0.0.1", CASSANDRA_PORT=str(cable.port)) as shop:
        assert answer(f"{shop}/", until=200)[0] == 200
        cable.pull_out()
        assert polite(*answer(f"{shop}/p/anything/", until=503))
        # The login needs the tree of categories alone, which each process keeps for half a minute.
        login = answer(f"{shop}/account/login/?next=/")
        assert login[0] == 200 or polite(*login)
        cable.plug_in()
        assert answer(f"{shop}/", until=200)[0] == 200
