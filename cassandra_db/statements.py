"""CQL statements, which a module declares beside the function that runs them.

    PRODUCT = read("Q1", "SELECT name, price FROM products WHERE product_id = :product_id")

    def product(product_id: UUID) -> list[Row]:
        return PRODUCT.all(product_id=product_id)

A declaration fixes the statement's consistency level and timeout, and whether the statement may be sent twice. A read binds its
whole partition key. A scan reads all partitions (`token(key) > :start AND token(key) <= :end`), and no request waits for a scan.
A test prepares and checks all declarations in REGISTRY. A process prepares a statement at its first use, or all statements by
`prepare_statements`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic, sleep
from typing import Any

from cassandra import (
    ConsistencyLevel,
    InvalidRequest,
    OperationTimedOut,
    RequestExecutionException,
    Unavailable,
    WriteTimeout,
)
from cassandra.cluster import NoHostAvailable, ResponseFuture, Session
from cassandra.connection import ConnectionException
from cassandra.cqltypes import DateType, TimeUUIDType
from cassandra.protocol import ErrorMessage
from cassandra.query import BatchStatement, BatchType, BoundStatement, PreparedStatement

from cassandra_db.clock import require_right_clock
from cassandra_db.configuration import CONDITIONAL, READ, WRITE, SilentNodesLastPolicy
from cassandra_db.errors import CassandraUnavailable, UnknownOutcome
from cassandra_db.lost_answers import LostAnswerPolicy
from cassandra_db.meter import Meter, counted, current_meter, note_statement
from cassandra_db.rows import Row, mark_all_utc, mark_utc
from cassandra_db.session import TranslatedErrors, get_session, keyspace_name

LOCAL_ONE = ConsistencyLevel.LOCAL_ONE
LOCAL_QUORUM = ConsistencyLevel.LOCAL_QUORUM
QUORUM = ConsistencyLevel.QUORUM
LOCAL_SERIAL = ConsistencyLevel.LOCAL_SERIAL

REGISTRY: list[Statement] = []
_questions: dict[str, str] = {}
log = logging.getLogger(__name__)

# The pauses before a conditional write without an answer is sent again, in seconds. Together they are longer than a lost
# connection takes to come back (see the reconnection policy).
PAUSES = (0.05, 0.2, 0.8)

# A conditional write is not sent again after this time, in seconds. A coordinator that reports silent replicas has already waited
# for them, so the request fails soon. If a node hangs, only one other node is asked.
_REPLICAS_SILENT, _NODE_SILENT = 3.0, 7.0

# How many statements are prepared at the same time: to prepare all 300 one after the other would take seconds.
_PREPARED_AT_ONCE = 16

# Java's smallest long is no token of the Murmur3 partitioner, so the half-open ranges miss no partition.
_RING_START, _RING_END = -(2**63), 2**63 - 1


@dataclass(frozen=True)
class _Prepared:
    """A statement that one session has prepared, and the names of its parameters."""

    session: Any
    statement: PreparedStatement
    parameters: frozenset[str]


@dataclass(eq=False, kw_only=True)
class Statement:
    """A CQL statement with named parameters. Make a statement by `read`, `scan`, `write` or `conditional_write`."""

    question: str = field(kw_only=False)
    cql: str = field(kw_only=False)
    profile: str
    consistency: int = LOCAL_QUORUM
    is_idempotent: bool = True
    is_scan: bool = False
    timeout: float | None = None
    page_size: int | None = None
    timestamp_columns: tuple[int, ...] = field(default=(), init=False)
    _prepared: _Prepared | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.cql = " ".join(self.cql.split())
        REGISTRY.append(self)
        _questions[self.cql] = self.question

    def __repr__(self) -> str:
        return f"<{self.question}: {self.cql}>"

    def with_consistency(self, consistency: int) -> Statement:
        """Return the same statement with another consistency level."""
        return replace(self, consistency=consistency)

    def prepare(self) -> PreparedStatement:
        """Return the prepared statement of this process's session. Raises CassandraUnavailable."""
        return self._ready().statement

    def _ready(self) -> _Prepared:
        session = get_session()
        if self._prepared is not None and self._prepared.session is session:
            return self._prepared
        with TranslatedErrors(self):
            if session.keyspace != keyspace_name():
                session.set_keyspace(keyspace_name())
            made = prepare_cql(session, self.cql)
        made.consistency_level = self.consistency
        made.is_idempotent = self.is_idempotent
        if self.page_size:
            made.fetch_size = self.page_size
        if self.profile == CONDITIONAL:
            made.serial_consistency_level = LOCAL_SERIAL
        self.timestamp_columns = tuple(
            i
            for i, (_, _, _, cql_type) in enumerate(made.result_metadata or ())
            if issubclass(cql_type, DateType) and not issubclass(cql_type, TimeUUIDType)
        )
        names = frozenset(column.name for column in made.column_metadata)
        self._prepared = _Prepared(session, made, names)
        return self._prepared

    def bind(self, **params: Any) -> BoundStatement:
        """Return the statement bound to values, for a batch. Raises TypeError when a parameter is missing or too many."""
        prepared = self._ready()
        # The driver would silently leave a missing value unset.
        if params.keys() != prepared.parameters:
            raise TypeError(
                f"{self.question} takes {sorted(prepared.parameters)}, got {sorted(params)}"
            )
        return prepared.statement.bind(params)

    def start(self, **params: Any) -> PendingResult:
        """Send the statement, and return without waiting for the answer."""
        return PendingResult(self, params, current_meter())

    def all(self, **params: Any) -> list[Row]:
        """Return all rows. Raises CassandraUnavailable."""
        return self.start(**params).rows()

    def one(self, **params: Any) -> Row | None:
        """Return the first row, or None. Raises CassandraUnavailable."""
        rows = self.all(**params)
        return rows[0] if rows else None

    def run(self, **params: Any) -> None:
        """Run a plain write. Raises CassandraUnavailable."""
        self.start(**params).rows()

    def apply(self, *, if_lost: LostAnswerPolicy, **params: Any) -> Outcome:
        """Run a conditional write. See `apply_batch` for `if_lost` and the errors."""
        bound = self.bind(**params)
        return apply_with_retries(bound, bound, if_lost, rows=1)

    def iterate_table(self, splits: int = 16, **params: Any) -> Iterator[Row]:
        """Yield the rows of a whole table, range by range and page by page. This is too slow for a request."""
        for part in range(splits):
            yield from self.iterate_part(part, splits, **params)

    def iterate_part(self, part: int, splits: int, **params: Any) -> Iterator[Row]:
        """Yield the rows of part `part` (from 0) of a table in `splits` parts, page by page. A partition is in one part.

        This is too slow for a request. Raises TypeError if the statement is no scan.
        """
        if not self.is_scan:
            raise TypeError(f"{self!r} is no scan")
        step = (_RING_END - _RING_START) // splits
        start = _RING_START + part * step
        end = _RING_END if part == splits - 1 else start + step
        with TranslatedErrors(self):
            found = get_session().execute(
                self.bind(start=start, end=end, **params),
                execution_profile=self.profile,
                timeout=self.timeout or 30,
            )
            for row in found:
                yield mark_utc([row], self.timestamp_columns)[0]


def prepare_statements() -> None:
    """Prepare the statements of all loaded modules, side by side, before a process serves.

    Raises CassandraUnavailable. Then the remaining statements are prepared at their first use.
    """
    with ThreadPoolExecutor(_PREPARED_AT_ONCE) as threads:
        for _ in threads.map(Statement.prepare, REGISTRY):
            pass


def prepare_cql(current: Session, cql: str) -> PreparedStatement:
    # The driver asks a single node, which may hang. So a second and a third one are asked.
    for is_last in (False, False, True):
        try:
            return current.prepare(cql)
        except OperationTimedOut as silent:
            if silent.last_host is not None:
                SilentNodesLastPolicy.mark_silent(silent.last_host)
            if is_last:
                raise
    raise AssertionError("unreachable")


def read(
    question: str, cql: str, *, consistency: int = LOCAL_QUORUM, timeout: float | None = None
) -> Statement:
    """Declare a read of one partition."""
    return Statement(question, cql, profile=READ, consistency=consistency, timeout=timeout)


def scan(
    question: str, cql: str, *, consistency: int = LOCAL_ONE, page_size: int = 1000
) -> Statement:
    """Declare a read over all partitions: `token(key) > :start AND token(key) <= :end`."""
    return Statement(
        question, cql, profile=READ, consistency=consistency, is_scan=True, page_size=page_size
    )


def write(question: str, cql: str, *, consistency: int = LOCAL_QUORUM) -> Statement:
    """Declare a plain upsert or delete, which may be sent twice without harm."""
    return Statement(question, cql, profile=WRITE, consistency=consistency)


def conditional_write(question: str, cql: str, *, consistency: int = LOCAL_QUORUM) -> Statement:
    """Declare a conditional write, or a statement for a conditional batch. The driver never retries it by itself."""
    return Statement(
        question, cql, profile=CONDITIONAL, consistency=consistency, is_idempotent=False
    )


class PendingResult:
    """A statement that was sent to Cassandra. Its methods wait for the answer and return its rows."""

    def __init__(
        self,
        statement: Statement,
        params: Mapping[str, Any],
        meter: Meter | None,
        depth: int | None = None,
    ) -> None:
        self.statement = statement
        self._meter = meter
        rows = int(statement.profile != READ)
        self.depth = meter.count_sent(statement.profile, rows, depth) if meter else 1
        bound = statement.bind(**params)
        if statement.profile != READ:
            require_right_clock()
        self._started = monotonic()
        self._took: float | None = None
        with TranslatedErrors(statement):
            self._future: ResponseFuture = get_session().execute_async(
                bound,
                execution_profile=statement.profile,
                **({"timeout": statement.timeout} if statement.timeout else {}),
            )
        self._future.add_callbacks(self._done, partial(self._done, failed=True))

    def _done(self, _: Any, *, failed: bool = False) -> None:
        # The driver calls this function for each further page of an answer, too.
        if self._took is None:
            self._took = monotonic() - self._started
            what = self.statement
            note_statement(what.question, what.profile, what.cql, self._took, failed=failed)

    def rows(self) -> list[Row]:
        """Wait for the answer, and return its rows. Raises CassandraUnavailable."""
        with TranslatedErrors(self.statement):
            result = self._future.result()
            rows = result.current_rows or []
            self._count_answered()
            while result.has_more_pages:
                if self._meter:
                    self.depth = self._meter.count_sent(self.statement.profile)
                result.fetch_next_page()
                rows = [*rows, *result.current_rows]
                self._count_answered()
        return mark_utc(rows, self.statement.timestamp_columns)

    def _count_answered(self) -> None:
        if self._meter:
            self._meter.count_answered(self.depth)

    def one(self) -> Row | None:
        """Wait for the answer, and return its first row, or None. Raises CassandraUnavailable."""
        rows = self.rows()
        return rows[0] if rows else None

    def then(
        self, following: Statement, params: Callable[[list[Row]], Mapping[str, Any] | None]
    ) -> Chain:
        """Send `following` once these rows arrive. `params` turns them into the parameters, or returns None to send nothing."""
        following.prepare()  # preparing would block the driver's event loop, where the callback runs
        return Chain(self, following, params)


class Chain:
    """Two reads. The second needs the first one's answer, and is sent as soon as the answer arrives, without a waiting thread."""

    def __init__(
        self,
        first: PendingResult,
        following: Statement,
        params: Callable[[list[Row]], Mapping[str, Any] | None],
    ) -> None:
        self._first = first
        self._second: PendingResult | None = None
        self._failed: Exception | None = None
        self._sent = threading.Event()

        def follow(rows: list[Row]) -> None:
            try:
                bound = params(mark_utc(rows or [], first.statement.timestamp_columns))
                if bound is not None:
                    self._second = PendingResult(following, bound, first._meter, first.depth + 1)
            except Exception as error:  # noqa: BLE001 raised again by result(), in the thread that asks
                self._failed = error
            finally:
                self._sent.set()

        first._future.add_callbacks(follow, lambda _: self._sent.set())

    def first(self) -> list[Row]:
        """Wait only for the first answer, and return its rows. Raises CassandraUnavailable."""
        return self._first.rows()

    def result(self) -> tuple[list[Row], list[Row]]:
        """Wait for both answers, and return their rows: none for a second read that was not sent. Raises CassandraUnavailable."""
        rows = self._first.rows()
        self._sent.wait()
        if self._failed:
            raise self._failed
        return rows, self._second.rows() if self._second else []


@dataclass(frozen=True)
class Outcome:
    """The answer to a conditional write: applied, or the rows that refused it."""

    applied: bool
    rows: list[Row]

    def __bool__(self) -> bool:
        return self.applied

    @property
    def current(self) -> Row | None:
        """The first row that refused the write; None when the partition is empty."""
        return self.rows[0] if self.rows and len(self.rows[0]) > 1 else None


def apply_batch(*bound: BoundStatement, if_lost: LostAnswerPolicy) -> Outcome:
    """Apply all statements or none. They write to one partition of one table, and at least one statement has a condition.

    `if_lost` is a policy of cassandra_db.lost_answers. Raises CassandraUnavailable when nothing was written.
    Raises UnknownOutcome when the batch may have applied.
    """
    batch = BatchStatement(
        BatchType.LOGGED, consistency_level=LOCAL_QUORUM, serial_consistency_level=LOCAL_SERIAL
    )
    for statement in bound:
        batch.add(statement)
    return apply_with_retries(bound[0], batch, if_lost, rows=len(bound))


def apply_with_retries(
    first: BoundStatement,
    statement: BatchStatement | BoundStatement,
    if_lost: LostAnswerPolicy,
    rows: int,
) -> Outcome:
    cql = first.prepared_statement.query_string
    require_right_clock()
    unknown: Exception | None = None
    began = monotonic()
    for pause in (*PAUSES, None):
        started = monotonic()
        try:
            with counted(CONDITIONAL, rows):
                answer = mark_all_utc(
                    list(get_session().execute(statement, execution_profile=CONDITIONAL))
                )
        except (Unavailable, NoHostAvailable) as error:
            if unknown is None and not (isinstance(error, NoHostAvailable) and _was_sent(error)):
                note_statement(
                    _questions[cql], CONDITIONAL, cql, monotonic() - started, failed=True
                )
                raise CassandraUnavailable(str(error)) from error
            unknown = error
        except (
            WriteTimeout,
            OperationTimedOut,
            ConnectionException,
            ErrorMessage,
            RequestExecutionException,
        ) as error:
            if isinstance(error, InvalidRequest):
                raise
            unknown = error
            if isinstance(error, OperationTimedOut) and error.last_host is not None:
                SilentNodesLastPolicy.mark_silent(error.last_host)
        else:
            note_statement(_questions[cql], CONDITIONAL, cql, monotonic() - started)
            applied = bool(answer[0].applied)
            won_before = (
                unknown is not None
                and not applied
                and any(if_lost.has_applied(row) for row in answer if len(row) > 1)
            )
            if unknown is not None:
                again = "applies now" if applied else "was refused"
                _log_outcome(cql, "had applied" if won_before else again)
            return Outcome(applied or won_before, answer)
        note_statement(_questions[cql], CONDITIONAL, cql, monotonic() - started, failed=True)
        longest = _NODE_SILENT if isinstance(unknown, OperationTimedOut) else _REPLICAS_SILENT
        if not if_lost.is_resent or pause is None or monotonic() - began > longest:
            break
        log.warning(
            "no answer to a conditional write of %s, sent again: %s", _questions[cql], unknown
        )
        sleep(pause)
    _log_outcome(cql, "stays unknown")
    raise UnknownOutcome(f"no answer to a conditional write: {unknown}") from unknown


def _log_outcome(cql: str, outcome: str) -> None:
    what = " ".join(cql.split()[:3]).removesuffix(" SET").removesuffix(" USING")
    log.warning(
        "a conditional write of %s had no answer (%s): it %s", _questions[cql], what, outcome
    )


def _was_sent(error: NoHostAvailable) -> bool:
    """Return whether a node may have received the request before it failed."""
    return any(
        isinstance(reason, ConnectionException | OperationTimedOut | ErrorMessage)
        for reason in error.errors.values()
    )


def wait_for_all(under_way: Iterable[PendingResult]) -> None:
    """Wait until all these statements are carried out. Raises CassandraUnavailable."""
    for pending in under_way:
        pending.rows()


def make_batch(statements: Sequence[BoundStatement]) -> BatchStatement:
    """Return idempotent writes as one unlogged batch."""
    batch = BatchStatement(BatchType.UNLOGGED, consistency_level=LOCAL_QUORUM)
    for statement in statements:
        batch.add(statement)
    batch.is_idempotent = True
    return batch


def write_batch(statements: Sequence[BoundStatement]) -> None:
    """Send several idempotent writes as one batch. Raises CassandraUnavailable.

    In one partition all statements are written or none. Across partitions, some may be missing after an error or a crash, so the
    caller must ensure that all are written again. A logged batch would be refused while one of three nodes is away.
    Cassandra refuses batches of more than 50 KiB across partitions.
    """
    batch = make_batch(statements)
    require_right_clock()
    cql, started, failed = statements[0].prepared_statement.query_string, monotonic(), True
    try:
        with TranslatedErrors(cql), counted(WRITE, len(statements)):
            get_session().execute(batch, execution_profile=WRITE)
        failed = False
    finally:
        note_statement(
            _questions.get(cql, "other"), WRITE, cql, monotonic() - started, failed=failed
        )
