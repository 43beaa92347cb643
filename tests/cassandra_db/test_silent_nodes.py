"""A node that hangs is asked last, for a while; what was not written in time is sent once more."""

from collections.abc import Iterator
from typing import Any

import pytest
from cassandra import ConsistencyLevel
from cassandra.policies import RetryPolicy, RoundRobinPolicy

from cassandra_db.configuration import RetryOncePolicy, SilentNodesLastPolicy


class Fixed(RoundRobinPolicy):  # type: ignore[misc]
    """Names its nodes always in the same order."""

    def make_query_plan(
        self, working_keyspace: str | None = None, query: Any = None
    ) -> Iterator[str]:
        return iter(["one", "two", "three"])


@pytest.fixture(autouse=True)
def nobody_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SilentNodesLastPolicy, "_silent", {})


def test_who_has_not_answered_is_asked_last() -> None:
    policy = SilentNodesLastPolicy(Fixed())
    assert list(policy.make_query_plan()) == ["one", "two", "three"]
    SilentNodesLastPolicy.mark_silent("one")
    assert list(policy.make_query_plan()) == ["two", "three", "one"]
    for node in ("two", "three"):
        SilentNodesLastPolicy.mark_silent(node)
    assert list(policy.make_query_plan()) == ["one", "two", "three"], (
        "if all are silent, all are asked"
    )


def test_it_is_forgotten_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SilentNodesLastPolicy, "SILENT_SECONDS", -1.0)
    SilentNodesLastPolicy.mark_silent("one")
    assert list(SilentNodesLastPolicy(Fixed()).make_query_plan()) == ["one", "two", "three"]


def test_a_write_that_was_not_acknowledged_in_time_is_sent_once_more() -> None:
    # By these names the driver calls.
    answer = {
        "consistency": ConsistencyLevel.LOCAL_QUORUM,
        "write_type": "SIMPLE",
        "required_responses": 2,
    }
    policy = RetryOncePolicy()
    assert (
        policy.on_write_timeout(None, received_responses=1, retry_num=0, **answer)[0]
        == RetryPolicy.RETRY
    )
    assert (
        policy.on_write_timeout(None, received_responses=1, retry_num=1, **answer)[0]
        == RetryPolicy.RETHROW
    )
    failed = {"consistency": ConsistencyLevel.LOCAL_QUORUM, "error": OSError()}
    assert policy.on_request_error(None, retry_num=0, **failed)[0] == RetryPolicy.RETRY_NEXT_HOST
    assert policy.on_request_error(None, retry_num=1, **failed)[0] == RetryPolicy.RETHROW
