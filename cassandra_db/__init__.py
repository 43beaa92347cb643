"""Prepared statements, batches, conditional writes and page tokens for Apache Cassandra. Most callers need only these names."""

from cassandra_db.clock import (
    compare_clocks,
    current_time,
    earliest_node_time,
    has_wrong_node,
    is_clock_right,
    is_in_future,
    require_right_clock,
)
from cassandra_db.errors import CassandraUnavailable, ClockWrong, InvalidPageToken, UnknownOutcome
from cassandra_db.lost_answers import RAISE_UNKNOWN, REFUSED_MEANS_DONE, SEND_AGAIN, applied_if
from cassandra_db.meter import Meter, collect_slow_statements, count_statements, observe_statements
from cassandra_db.page_tokens import page_key, page_token
from cassandra_db.retry import retry_attempts
from cassandra_db.rows import Row, truncate_to_milliseconds
from cassandra_db.side_by_side import run_side_by_side
from cassandra_db.statements import (
    LOCAL_ONE,
    LOCAL_QUORUM,
    QUORUM,
    REGISTRY,
    Chain,
    Outcome,
    PendingResult,
    Statement,
    apply_batch,
    conditional_write,
    prepare_statements,
    read,
    scan,
    wait_for_all,
    write,
    write_batch,
)
from cassandra_db.timestamps import current_microseconds, write_after
