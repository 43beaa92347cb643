"""How the shop talks to Cassandra: statements, batches, conditional writes, pages, leases, the local node."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cassandra_db.errors import BadPageToken, CassandraUnavailable, UnknownOutcome
    from cassandra_db.pages import page_key, page_token
    from cassandra_db.rows import Row
    from cassandra_db.statements import (
        LOCAL_ONE,
        LOCAL_QUORUM,
        QUORUM,
        REGISTRY,
        Chain,
        Outcome,
        Pending,
        Statement,
        conditional,
        conditional_batch,
        logged_batch,
        metered,
        read,
        scan,
        write,
        write_together,
    )

_HOME = {
    "errors": ("BadPageToken", "CassandraUnavailable", "UnknownOutcome"),
    "pages": ("page_key", "page_token"),
    "rows": ("Row",),
    "statements": (
        "LOCAL_ONE",
        "LOCAL_QUORUM",
        "QUORUM",
        "REGISTRY",
        "Chain",
        "Outcome",
        "Pending",
        "Statement",
        "conditional",
        "conditional_batch",
        "logged_batch",
        "metered",
        "read",
        "scan",
        "write",
        "write_together",
    ),
}


def __getattr__(name: str) -> Any:
    # Lazily, because the settings import cassandra_db.configuration and the statements need the settings.
    for module, names in _HOME.items():
        if name in names:
            return getattr(import_module(f"cassandra_db.{module}"), name)
    raise AttributeError(name)
