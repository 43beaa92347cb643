"""Many plain writes at the same time: what happens when the nodes are away, or refuse a write."""

from collections.abc import Callable
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pytest
from cassandra import InvalidRequest, OperationTimedOut
from cassandra.query import BoundStatement

from cassandra_db import CassandraUnavailable, bulk
from jobs.leases import SAVE_POSITION

AT_ONCE = 4


def make_write() -> BoundStatement:
    return SAVE_POSITION.bind(job=f"test-{uuid4()}", position="x", me=uuid4())


@pytest.fixture
def fail_with(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], Mock]:
    """Return a function that lets each write fail with an error; it returns the mock that is called for each write."""

    def install(error: Exception) -> Mock:
        def answer(_done: Any, failed: Callable[..., None], errback_args: tuple[Any]) -> None:
            failed(error, *errback_args)

        send = Mock(return_value=Mock(add_callbacks=answer))
        monkeypatch.setattr(bulk, "get_session", lambda: Mock(execute_async=send))
        monkeypatch.setattr(bulk, "sleep", lambda _: None)
        return send

    return install


def test_a_rebuild_ends_soon_after_the_nodes_are_away(
    fail_with: Callable[[Exception], Mock],
) -> None:
    sent = fail_with(OperationTimedOut())
    writer, failures = bulk.BulkWriter(AT_ONCE), 0
    for _ in range(100):
        try:
            writer.send(make_write())
        except CassandraUnavailable:
            failures += 1
    first = 2 * AT_ONCE + 1
    assert failures == 100 - first, "it has given up, and raises at once"
    assert sent.call_count == first * bulk.MAX_ATTEMPTS


def test_a_write_that_is_refused_is_not_sent_again(fail_with: Callable[[Exception], Mock]) -> None:
    sent = fail_with(InvalidRequest("too large"))
    writer = bulk.BulkWriter(AT_ONCE)
    with pytest.raises(InvalidRequest), writer:
        writer.send(make_write())
    assert sent.call_count == 1, "the block raises at its end"
    with pytest.raises(InvalidRequest):
        writer.send(make_write())
    assert sent.call_count == 2, (
        "it was sent before an error is raised, which may be another write's"
    )
