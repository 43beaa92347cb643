"""Sends many plain writes, a bounded number of them at the same time, for commands that fill a keyspace and jobs that
rebuild derived data."""

import threading
from collections import deque
from time import sleep
from typing import Any, Self

from cassandra import RequestValidationException
from cassandra.query import BatchStatement, BoundStatement

from cassandra_db.clock import require_right_clock
from cassandra_db.configuration import WRITE
from cassandra_db.errors import CassandraUnavailable
from cassandra_db.session import get_session
from cassandra_db.statements import Statement, make_batch, write

# How often a write is sent.
MAX_ATTEMPTS = 6


def drop_condition(statement: Statement) -> Statement:
    """Return a conditional write without its condition.

    Use it for rows whose ids no other process can have made, in a keyspace that no other process writes to.
    """
    return write(statement.question, statement.cql.split(" IF ")[0])


class BulkWriter:
    """Sends idempotent writes, and waits for their answers at the end of a `with` block. It resends writes that time out.

    Once many writes have failed, it resends them before it takes others. If they fail again and again, it raises
    CassandraUnavailable. It raises the error of a write that Cassandra refuses as invalid.
    """

    def __init__(self, at_once: int = 96) -> None:
        self.row_count = 0
        self._free = threading.Semaphore(at_once)
        self._at_once = at_once
        self._failed: deque[tuple[Any, Exception]] = deque()
        self._refused: deque[Exception] = deque()
        self._gave_up: CassandraUnavailable | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._settle()

    def send(self, *bound: BoundStatement) -> None:
        """Send one write, or several writes as one batch. Wait while too many writes are unanswered.

        Raises the error of any write so far that no retry can mend, once, and CassandraUnavailable.
        """
        if self._gave_up:
            raise self._gave_up
        if len(self._failed) > 2 * self._at_once:
            self._settle()
        self.row_count += len(bound)
        self._send(bound[0] if len(bound) == 1 else make_batch(bound))
        self._raise_refused()

    def _send(self, statement: BoundStatement | BatchStatement) -> None:
        require_right_clock()
        self._free.acquire()
        try:
            future = get_session().execute_async(statement, execution_profile=WRITE)
        except BaseException:
            self._free.release()
            raise
        future.add_callbacks(self._done, self._note, errback_args=(statement,))

    def _done(self, _: object) -> None:
        self._free.release()

    def _note(self, error: Exception, statement: BoundStatement | BatchStatement) -> None:
        if isinstance(error, RequestValidationException):
            self._refused.append(error)
        else:
            self._failed.append((statement, error))
        self._free.release()

    def _raise_refused(self) -> None:
        if self._refused:
            raise self._refused.popleft()

    def _settle(self) -> None:
        """Wait for all answers, and send failed writes again until none is left. Raises CassandraUnavailable."""
        for attempt in range(MAX_ATTEMPTS):
            if attempt:
                sleep(0.25 * 2**attempt)
                again = list(self._failed)
                self._failed.clear()
                for statement, _error in again:
                    self._send(statement)
            for _ in range(self._at_once):
                self._free.acquire()
            for _ in range(self._at_once):
                self._free.release()
            if not self._failed:
                self._raise_refused()
                return
        error = self._failed[0][1]
        self._gave_up = CassandraUnavailable(
            f"{len(self._failed)} writes failed again and again: {error}"
        )
        raise self._gave_up from error
