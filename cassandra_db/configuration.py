"""The configuration of the cluster and of the driver. The settings read it before Django is set up.

The driver must never send a conditional write twice, but its usual retry policy re-sends any statement after a connection
error. Replicas are not shuffled, so that all conditional writes of a partition have the same coordinator. Protocol 5 is not
used: it reports a conditional write with unknown outcome by an error code that the driver does not know.
"""

from collections.abc import Iterator
from time import monotonic
from typing import Any, ClassVar

import environ
from cassandra import ConsistencyLevel
from cassandra.cluster import EXEC_PROFILE_DEFAULT, ExecutionProfile
from cassandra.policies import (
    ConstantSpeculativeExecutionPolicy,
    DCAwareRoundRobinPolicy,
    ExponentialReconnectionPolicy,
    FallthroughRetryPolicy,
    LoadBalancingPolicy,
    RetryPolicy,
    TokenAwarePolicy,
)
from django.core.exceptions import ImproperlyConfigured

from cassandra_db.rows import row_factory
from cassandra_db.timestamps import WriteTimestamps

READ, WRITE, CONDITIONAL = "read", "write", "conditional"


class RetryOncePolicy(RetryPolicy):  # type: ignore[misc]
    """Retries an idempotent request once, on another node."""

    def on_request_error(
        self, query: Any, consistency: int, error: Any, retry_num: int
    ) -> tuple[int, int | None]:
        return (self.RETRY_NEXT_HOST, consistency) if retry_num == 0 else (self.RETHROW, None)

    # The driver passes these arguments by their names.
    def on_write_timeout(
        self,
        query: Any,
        consistency: int,
        write_type: Any,
        required_responses: int,
        received_responses: int,
        retry_num: int,
    ) -> tuple[int, int | None]:
        return (self.RETRY, consistency) if retry_num == 0 else (self.RETHROW, None)


class SilentNodesLastPolicy(TokenAwarePolicy):  # type: ignore[misc]
    """Asks a node that has left a request unanswered only after all others, for a while.

    A node that hangs keeps its connections. The driver trusts the node until a heartbeat fails, which takes a minute. Meanwhile
    reads ask another node as well; only the first conditional write waits for the node.
    """

    SILENT_SECONDS = 30.0
    _silent: ClassVar[dict[Any, float]] = {}

    @classmethod
    def mark_silent(cls, host: Any) -> None:
        """Remember that this node has not answered in time."""
        cls._silent[host] = monotonic() + cls.SILENT_SECONDS

    @classmethod
    def is_silent(cls, host: Any) -> bool:
        """Return whether this node has recently left a request unanswered."""
        return cls._silent.get(host, 0.0) > monotonic()

    def make_query_plan(
        self, working_keyspace: str | None = None, query: Any = None
    ) -> Iterator[Any]:
        silent = []
        for host in super().make_query_plan(working_keyspace, query):
            if self.is_silent(host):
                silent.append(host)
            else:
                yield host
        yield from silent


def database_settings(env: environ.Env) -> dict[str, Any]:
    """Return Django's DATABASES entry for the cluster that the environment names.

    It reads CASSANDRA_HOSTS (comma separated), _PORT, _USERNAME, _PASSWORD, _LOCAL_DC, _KEYSPACE and _REPLICATION. The
    replication is a factor ("3"), or a data centre and its factor ("dc1:3"). Without CASSANDRA_HOSTS, the cluster is the local
    node in CASSANDRA_LOCAL_NODE: addresses, comma separated, and a port ("127.0.0.1:9042").
    """
    local, _, port = env.str("CASSANDRA_LOCAL_NODE", default="127.0.0.1:9042").rpartition(":")
    hosts = local.split(",")
    if named := env.list("CASSANDRA_HOSTS", default=[]):
        hosts, port = named, "9042"
    local_dc = env.str("CASSANDRA_LOCAL_DC", default="")
    return {
        "ENGINE": "django_cassandra_engine",
        "NAME": env.str("CASSANDRA_KEYSPACE", default="stoa"),
        "HOST": ",".join(hosts),
        "USER": env.str("CASSANDRA_USERNAME", default=""),
        "PASSWORD": env.str("CASSANDRA_PASSWORD", default=""),
        "OPTIONS": {
            "replication": parse_replication(env.str("CASSANDRA_REPLICATION", default="1")),
            "connection": {
                # Without both options, a command or a worker that starts while the database is away stays broken for ever.
                "lazy_connect": True,
                "retry_connect": True,
                "port": env.int("CASSANDRA_PORT", default=int(port)),
                "protocol_version": 4,
                "connect_timeout": 5,
                "control_connection_timeout": 5,
                # The other nodes prepare a statement when they first get it. To prepare it on all nodes would take ten seconds
                # for each node that hangs.
                "prepare_on_all_hosts": False,
                "timestamp_generator": WriteTimestamps(),
                "reconnection_policy": ExponentialReconnectionPolicy(0.5, 5.0),
                "execution_profiles": _profiles(local_dc),
            },
        },
    }


def parse_replication(value: str) -> dict[str, Any]:
    if value.strip().isdecimal():
        return {"strategy_class": "SimpleStrategy", "replication_factor": int(value)}
    name, _, factor = value.partition(":")
    if not factor.strip().isdecimal():
        raise ImproperlyConfigured(
            f"CASSANDRA_REPLICATION is a factor (3) or that of one data centre (dc1:3), not {value}"
        )
    return {"strategy_class": "NetworkTopologyStrategy", name.strip(): int(factor)}


def _profiles(local_dc: str) -> dict[Any, ExecutionProfile]:
    def nearest() -> LoadBalancingPolicy:
        return SilentNodesLastPolicy(
            DCAwareRoundRobinPolicy(local_dc=local_dc), shuffle_replicas=False
        )

    return {
        # For the engine's own statements: changes and reads of the schema.
        EXEC_PROFILE_DEFAULT: ExecutionProfile(
            nearest(), consistency_level=ConsistencyLevel.LOCAL_QUORUM, request_timeout=60
        ),
        READ: ExecutionProfile(
            nearest(),
            RetryOncePolicy(),
            row_factory=row_factory,
            request_timeout=3,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.2, 1),
        ),
        WRITE: ExecutionProfile(
            nearest(),
            RetryOncePolicy(),
            row_factory=row_factory,
            request_timeout=4,
            speculative_execution_policy=ConstantSpeculativeExecutionPolicy(0.5, 1),
        ),
        # Longer than the server's cas_contention_timeout plus its write timeout, so that the server reports a timeout first.
        CONDITIONAL: ExecutionProfile(
            nearest(), FallthroughRetryPolicy(), row_factory=row_factory, request_timeout=6
        ),
    }
