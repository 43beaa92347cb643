"""I11 and I12: no lease, job position or row has a time in the future.

A process with a wrong clock writes leases or job positions in the future. Its rows have timestamps that win against all other
writes until that time. A row is reported until the clocks have passed its timestamp, even if its values are right.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial

from cassandra_db import Statement, current_time, is_in_future, scan
from consistency.findings import Check, Violation, column_subjects, table_subjects
from jobs.leases import forget_future, get_lease

_YEAR_1970 = datetime(1970, 1, 1, tzinfo=UTC)
LEASES = scan("I11", "SELECT job FROM leases WHERE token(job) > :start AND token(job) <= :end")

# The tables with plain writes, each with its key and a column that has the timestamp of a row's writes.
STAMPED: dict[str, Statement] = {
    table: scan(
        "I12",
        f"SELECT {key}, writetime({column}) AS written FROM {table} WHERE token({partition}) > :start AND token({partition}) <= :end",  # noqa: S608
    )
    for table, column, partition, key in (
        ("stock_by_product", "available", "product_id", "product_id, variant_id, warehouse_id"),
        (
            "daily_sales_by_dimension",
            "units",
            "month, dimension",
            "month, dimension, day, key, currency",
        ),
        ("sales_days", "written", "shop", "shop, day"),
        ("products_by_category", "name", "category_id, sort", "category_id, sort, product_id"),
        ("featured_products", "name", "feature_type", "feature_type, position"),
        ("related_cards", "cards", "product_id", "product_id"),
        ("products_by_name_prefix", "name", "prefix", "prefix, rank, product_id"),
        ("undeliverable_addresses", "failure", "bucket", "bucket, email"),
        ("subscriptions_by_email", "product_id", "email_key", "variant_id"),
        ("subscribed_variants", "product_id", "bucket", "bucket, variant_id"),
        ("users_by_search_term", "name", "head", "head, term, user_id"),
        ("search_terms_by_user", "name", "user_id", "user_id, term"),
        ("audit_log", "act", "book, day", "book, day, at, part"),
        ("audit_log_by_actor", "act", "actor_id, month", "actor_id, month, at, part"),
        ("order_items", "sku", "order_id", "order_id, line_number"),
    )
}


def _check_lease(job: str) -> Iterator[Violation]:
    lease = get_lease(job)
    if lease.is_in_future(current_time()):
        fault = "its lease is dated in the future"
        detail = f"last run {lease.last_run}, held until {lease.held_until}"
        detail += f", position {lease.position!r}"
        yield Violation("I11", f"job {job}", fault, detail, partial(forget_future, lease))


def check_stamps(table: str) -> Iterator[Violation]:
    now = current_time()
    for row in STAMPED[table].iterate_table():
        written = _YEAR_1970 + timedelta(microseconds=row.written or 0)
        if is_in_future(written, now):
            key = ", ".join(str(value) for value in row[:-1])
            yield Violation(
                "I12",
                f"{table}: {key}",
                "is stamped in the future: until then what is written there is lost, but for a repair",
                f"{written:%Y-%m-%d %H:%M:%S} UTC",
            )


CHECKS = (
    Check("leases", ("I11",), column_subjects(LEASES, "job", "jobs"), _check_lease),
    Check("tables' stamps", ("I12",), table_subjects(STAMPED), check_stamps),
)
