"""`manage.py check` and one data centre."""

import io
import os
import subprocess
import sys
from unittest.mock import Mock

import pytest
from cassandra.metadata import NetworkTopologyStrategy, SimpleStrategy
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.core.management.base import SystemCheckError

from cassandra_db import checks
from cassandra_db.configuration import parse_replication
from cassandra_db.session import get_session, keyspace_name


def test_x253_check_refuses_rows_in_two_data_centers(monkeypatch: pytest.MonkeyPatch) -> None:
    metadata = get_session().cluster.metadata
    keyspace = metadata.keyspaces[keyspace_name()]
    call_command("check", stdout=io.StringIO())
    every = [*metadata.all_hosts(), Mock(datacenter="west")]
    monkeypatch.setattr(metadata, "all_hosts", lambda: every)
    for strategy, is_refused in (
        (NetworkTopologyStrategy({"east": "3"}), False),
        (NetworkTopologyStrategy({"east": "3", "west": "0"}), False),
        (NetworkTopologyStrategy({"east": "3", "west": "1"}), True),
        (SimpleStrategy({"replication_factor": "2"}), True),
    ):
        monkeypatch.setattr(keyspace, "replication_strategy", strategy)
        assert bool(checks.check_data_centers(["default"])) == is_refused, strategy
    with pytest.raises(SystemCheckError, match=r"in 2 data centres \(\w+, west\)"):
        call_command("check", stderr=io.StringIO())


def test_x253_check_without_a_cluster_says_that_it_has_not_asked_and_nothing_else() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "check"],
        env=os.environ | {"CASSANDRA_HOSTS": "127.0.0.1", "CASSANDRA_PORT": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "its data centres are not checked: no Cassandra node answers" in done.stderr
    assert "HINT: ('Unable to connect" in done.stderr
    assert not [each for each in ("Traceback", " ERROR ", " WARNING ") if each in done.stderr]


def test_x253_a_keyspace_is_made_in_one_data_center() -> None:
    assert parse_replication("3")["replication_factor"] == 3
    assert parse_replication("east:3")["east"] == 3
    for wrong in ("east:3,west:3", "east:", "east"):
        with pytest.raises(ImproperlyConfigured, match="CASSANDRA_REPLICATION"):
            parse_replication(wrong)
