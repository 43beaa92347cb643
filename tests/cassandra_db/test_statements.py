"""The driver's wrapping, on a real node."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
from cassandra import OperationTimedOut, WriteTimeout, WriteType

from cassandra_db import (
    RAISE_UNKNOWN,
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    InvalidPageToken,
    UnknownOutcome,
    applied_if,
    apply_batch,
    conditional_write,
    count_statements,
    page_key,
    page_token,
    read,
    scan,
    statements,
    write,
    write_batch,
)
from cassandra_db.configuration import SilentNodesLastPolicy
from cassandra_db.lost_answers import LostAnswerPolicy
from cassandra_db.session import get_session

PUT = write("test", "INSERT INTO leases (job, position, last_run) VALUES (:job, :position, :at)")
GET = read("test", "SELECT job, position, last_run FROM leases WHERE job = :job")
CLAIM = conditional_write(
    "test", "INSERT INTO leases (job, holder) VALUES (:job, :holder) IF NOT EXISTS"
)
MOVE = conditional_write(
    "test", "UPDATE leases SET position = :next WHERE job = :job IF position = :was"
)
END = conditional_write("test", "DELETE FROM leases WHERE job = :job IF EXISTS")
ALL = scan("test", "SELECT job FROM leases WHERE token(job) > :start AND token(job) <= :end")
ROW_BY_ROW = scan(
    "test", "SELECT job FROM leases WHERE token(job) > :start AND token(job) <= :end", page_size=1
)
ME, OTHER = uuid4(), uuid4()


def test_it_reads_what_was_written_with_times_in_utc() -> None:
    job, now = f"test-{uuid4()}", datetime(2026, 3, 29, 1, 30, tzinfo=UTC)
    PUT.run(job=job, position="7", at=now)
    row = GET.one(job=job)
    assert row
    assert (row.job, row.position, row.last_run) == (job, "7", now)


def test_it_refuses_a_missing_and_a_surplus_parameter() -> None:
    with pytest.raises(TypeError, match="takes"):
        GET.one()
    with pytest.raises(TypeError, match="takes"):
        GET.one(job="x", other=1)


def test_a_conditional_write_answers_with_what_was_in_the_way() -> None:
    job, mine, other = f"test-{uuid4()}", uuid4(), uuid4()
    assert CLAIM.apply(if_lost=RAISE_UNKNOWN, job=job, holder=mine)
    refused = CLAIM.apply(if_lost=RAISE_UNKNOWN, job=job, holder=other)
    assert not refused
    assert refused.current
    assert refused.current.holder == mine


def test_a_conditional_batch_applies_all_or_nothing() -> None:
    job = f"test-{uuid4()}"
    PUT.run(job=job, position="1", at=datetime.now(UTC))
    refused = apply_batch(MOVE.bind(job=job, was="0", next="9"), if_lost=RAISE_UNKNOWN)
    assert not refused
    assert refused.current
    assert refused.current.position == "1"
    assert apply_batch(MOVE.bind(job=job, was="1", next="9"), if_lost=RAISE_UNKNOWN)
    assert [row.position for row in GET.all(job=job)] == ["9"]


class AnswersLost:
    """A session that does all that it is asked, and loses each answer, or the first ones."""

    def __init__(self, lost: int | None = None) -> None:
        self.real, self.sent, self.lost = get_session(), 0, lost

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)

    def execute(self, *arguments: Any, **options: Any) -> Any:
        self.sent += 1
        answer = self.real.execute(*arguments, **options)
        if self.lost is None or self.sent <= self.lost:
            raise OperationTimedOut
        return answer


@pytest.mark.parametrize(
    ("if_lost", "applied"),
    [
        (SEND_AGAIN, False),
        (REFUSED_MEANS_DONE, True),
        (applied_if(lambda row: bool(row.holder == ME)), True),
        (applied_if(lambda row: bool(row.holder == OTHER)), False),
    ],
)
def test_a_write_whose_answer_was_lost_meets_its_row_and_says_what_that_means(
    if_lost: LostAnswerPolicy, applied: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lossy = AnswersLost(1)
    monkeypatch.setattr(statements, "get_session", lambda: lossy)
    outcome = CLAIM.apply(if_lost=if_lost, job=f"test-{uuid4()}", holder=ME)
    assert (outcome.applied, lossy.sent) == (applied, 2)


def test_a_refusal_without_a_row_is_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    job = f"test-{uuid4()}"
    PUT.run(job=job, position="1", at=datetime.now(UTC))
    lossy = AnswersLost(1)
    monkeypatch.setattr(statements, "get_session", lambda: lossy)
    assert not END.apply(if_lost=REFUSED_MEANS_DONE, job=job), (
        "the row that is gone cannot say who has removed it"
    )
    assert lossy.sent == 2


def test_a_conditional_write_whose_outcome_stays_unknown_is_never_sent_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    job = f"test-{uuid4()}"
    PUT.run(job=job, position="1", at=datetime.now(UTC))
    with monkeypatch.context() as patched:
        lossy = AnswersLost()
        patched.setattr(statements, "get_session", lambda: lossy)
        with pytest.raises(UnknownOutcome):
            MOVE.apply(if_lost=RAISE_UNKNOWN, job=job, was="1", next="2")
    assert lossy.sent == 1
    assert [row.position for row in GET.all(job=job)] == ["2"]


def test_a_chain_counts_two_rounds_and_parallel_reads_one() -> None:
    job = f"test-{uuid4()}"
    PUT.run(job=job, position=job, at=datetime.now(UTC))
    with count_statements() as meter:
        chain = GET.start(job=job).then(GET, lambda rows: {"job": rows[0].position})
        beside = GET.start(job=job)
        beside.rows()
        first, second = chain.result()
    assert first == second
    assert (meter.statement_count, meter.round_count) == (3, 2)


def test_all_that_is_waited_for_is_counted_by_its_kind() -> None:
    job = f"test-{uuid4()}"
    with count_statements() as meter:
        PUT.run(job=job, position="1", at=datetime.now(UTC))
        write_batch([PUT.bind(job=job, position="1", at=datetime.now(UTC))] * 3)
        beside = GET.start(job=job), GET.start(job=job)
        assert [pending.rows() for pending in beside]
        assert MOVE.apply(if_lost=RAISE_UNKNOWN, job=job, was="1", next="2")
        assert not apply_batch(
            MOVE.bind(job=job, was="1", next="2"),
            PUT.bind(job=job, position="3", at=datetime.now(UTC)),
            if_lost=RAISE_UNKNOWN,
        )
    assert vars(meter) == {
        "read_count": 2,
        "write_count": 2,
        "conditional_write_count": 2,
        "row_count": 1 + 3 + 1 + 2,
        "round_count": 5,
        "awaited_depth": 5,
    }
    assert meter.statement_count == 6


def test_each_page_of_a_long_answer_is_a_statement_and_a_round() -> None:
    for _ in range(3):
        PUT.run(job=f"scan-{uuid4()}", position="", at=datetime.now(UTC))
    with count_statements() as meter:
        rows = ROW_BY_ROW.start(start=-(2**63), end=2**63 - 1).rows()
    assert len(rows) >= 3
    assert meter.read_count == meter.round_count in (len(rows), len(rows) + 1)


def test_a_chain_stops_when_the_first_answer_leads_nowhere() -> None:
    rows, following = GET.start(job=f"test-{uuid4()}").then(GET, lambda rows: None).result()
    assert (rows, following) == ([], [])


def test_a_scan_finds_every_partition_once() -> None:
    jobs = {f"scan-{uuid4()}" for _ in range(50)}
    for job in jobs:
        PUT.run(job=job, position="", at=datetime.now(UTC))
    found = [row.job for row in ALL.iterate_table(splits=7) if row.job in jobs]
    assert sorted(found) == sorted(jobs)


def test_a_page_token_holds_its_key_and_only_for_its_list() -> None:
    key: list[bytes | UUID | datetime | int | str] = [
        b"\x80\x00",
        uuid4(),
        datetime(2026, 1, 2, tzinfo=UTC),
        7,
        "x",
    ]
    token = page_token(key, list_name="Q2:all")
    assert page_key(token, list_name="Q2:all") == key
    for wrong, of in (
        (token, "Q2:other"),
        (token[:-1], "Q2:all"),
        ("", "Q2:all"),
        ("\x00", "Q2:all"),
    ):
        with pytest.raises(InvalidPageToken):
            page_key(wrong, list_name=of)


@pytest.mark.parametrize(
    ("silent", "sent"),
    [
        # The coordinator has waited two seconds for its replicas each time.
        (WriteTimeout("replicas are silent", write_type=WriteType.CAS), 2),
        # A node that hangs is waited for as long as it may take, and another one is asked.
        (OperationTimedOut(), 2),
    ],
)
def test_where_no_majority_answers_a_write_is_soon_given_up(
    silent: Exception, sent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    passed = 0.0

    class NobodyAnswers(AnswersLost):
        def execute(self, *arguments: Any, **options: Any) -> Any:
            nonlocal passed
            self.sent += 1
            passed += 2.0 if isinstance(silent, WriteTimeout) else 6.0
            raise silent

    nobody = NobodyAnswers()
    monkeypatch.setattr(statements, "get_session", lambda: nobody)
    monkeypatch.setattr(statements, "monotonic", lambda: passed)
    with pytest.raises(UnknownOutcome):
        apply_batch(CLAIM.bind(job=f"test-{uuid4()}", holder=ME), if_lost=SEND_AGAIN)
    assert nobody.sent == sent


def test_nodes_that_stand_still_are_asked_last_when_a_statement_is_prepared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connected = get_session()
    host, prepare, asked_hosts = connected.cluster.metadata.all_hosts()[0], connected.prepare, []
    assert connected.default_timeout < 3, "the driver's own is ten seconds for each of them"

    def silent_once(cql: str) -> Any:
        asked_hosts.append(cql)
        if len(asked_hosts) <= 2:
            raise OperationTimedOut({}, host)
        return prepare(cql)

    monkeypatch.setattr(connected, "prepare", silent_once)
    monkeypatch.setattr(SilentNodesLastPolicy, "_silent", {})
    cql = "SELECT key FROM system.local WHERE key = :key"
    assert statements.prepare_cql(connected, cql).query_string == cql
    assert asked_hosts == [cql] * 3
    assert host in SilentNodesLastPolicy._silent
