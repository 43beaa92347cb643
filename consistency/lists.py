"""I14: each list that leads to something leads to all of it: a mailbox to its mails, an order to its codes, a person to their log.

These rows are written before what they lead to. So one that leads to nothing is a crash's, and does no harm; one that is missing
would hide something from an export or an erasure, or from the worker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accounts.audit_log import ENTERED_BY_ACTOR
from cassandra_db import Row, Statement, read, scan
from consistency.findings import Check, Scope, Violation
from mail.addresses import email_key
from mail.operations import TO_RECIPIENT
from notifications.operations import INSERT_SUBSCRIBED_VARIANT, INSERT_SUBSCRIPTION
from notifications.queries import variant_bucket
from promotions.operations import INSERT_VOUCHER_BY_ORDER

MAILS = scan(
    "I14",
    "SELECT mail_id, recipient FROM mails WHERE token(mail_id) > :start AND token(mail_id) <= :end",
)
MAIL_LISTED = read(
    "I14",
    "SELECT mail_id FROM mails_by_recipient WHERE recipient = :recipient AND mail_id = :mail_id",
)
SUBSCRIBERS = scan(
    "I14",
    """SELECT variant_id, email_key, product_id FROM subscriptions_by_variant
       WHERE token(variant_id) > :start AND token(variant_id) <= :end""",
)
SUBSCRIPTION_LISTED = read(
    "I14",
    "SELECT variant_id FROM subscriptions_by_email WHERE email_key = :email_key AND variant_id = :variant_id",
)
VARIANT_LISTED = read(
    "I14",
    "SELECT variant_id FROM subscribed_variants WHERE bucket = :bucket AND variant_id = :variant_id",
)
VOUCHER_USES = scan(
    "I14",
    "SELECT key, claim, order_id FROM voucher_uses WHERE token(key) > :start AND token(key) <= :end",
)
VOUCHER_LISTED = read(
    "I14", "SELECT key FROM vouchers_by_order WHERE order_id = :order_id AND key = :key"
)
LOG = scan(
    "I14",
    """SELECT book, day, at, part, actor_id, actor, act, subject, fields, outcome, request_id FROM audit_log
       WHERE token(book, day) > :start AND token(book, day) <= :end""",
)
LOG_LISTED = read(
    "I14",
    "SELECT at FROM audit_log_by_actor WHERE actor_id = :actor_id AND month = :month AND at = :at AND part = :part",
)


@dataclass(frozen=True)
class ListRule:
    """A list by another key: what it leads to, the read of a row of it by `key`, and the write that makes it.

    `values` returns the columns of the row that leads to a thing, or None if none has to.
    """

    table: str
    things: Statement
    listed: Statement
    key: tuple[str, ...]
    values: Callable[[Row], Mapping[str, Any] | None]
    write: Statement


RULES = {
    rule.table: rule
    for rule in (
        ListRule(
            "mails_by_recipient",
            MAILS,
            MAIL_LISTED,
            ("recipient", "mail_id"),
            lambda row: {"recipient": email_key(row.recipient), "mail_id": row.mail_id},
            TO_RECIPIENT,
        ),
        ListRule(
            "subscriptions_by_email",
            SUBSCRIBERS,
            SUBSCRIPTION_LISTED,
            ("email_key", "variant_id"),
            lambda row: row._asdict(),
            INSERT_SUBSCRIPTION,
        ),
        ListRule(
            "subscribed_variants",
            SUBSCRIBERS,
            VARIANT_LISTED,
            ("bucket", "variant_id"),
            lambda row: {
                "bucket": variant_bucket(row.variant_id),
                "variant_id": row.variant_id,
                "product_id": row.product_id,
            },
            INSERT_SUBSCRIBED_VARIANT,
        ),
        ListRule(
            "vouchers_by_order",
            VOUCHER_USES,
            VOUCHER_LISTED,
            ("order_id", "key"),
            lambda row: (
                {"order_id": row.order_id, "key": row.key}
                if (row.claim or "").startswith("order:")
                else None
            ),
            INSERT_VOUCHER_BY_ORDER,
        ),
        ListRule(
            "audit_log_by_actor",
            LOG,
            LOG_LISTED,
            ("actor_id", "month", "at", "part"),
            lambda row: _log_values(row) if row.actor_id else None,
            ENTERED_BY_ACTOR,
        ),
    )
}


def _log_values(row: Row) -> Mapping[str, Any]:
    values: dict[str, Any] = row._asdict()
    values["month"] = values.pop("day").date().replace(day=1)
    return values


def _iterate_tables(scope: Scope | None) -> Iterator[str]:
    yield from scope.tables & RULES.keys() if scope is not None else RULES


def _check_list(table: str) -> Iterator[Violation]:
    rule = RULES[table]
    for row in rule.things.iterate_table():
        values = rule.values(row)
        if values is None:
            continue
        place = {name: values[name] for name in rule.key}
        if rule.listed.one(**place) is None:
            what = ", ".join(str(value) for value in place.values())
            yield Violation(
                "I14",
                f"{table}: {what}",
                "is missing where it has to be found",
                fix=lambda now, values=values: rule.write.run(**values),  # type: ignore[misc]
            )


CHECKS = (Check("lists", ("I14",), _iterate_tables, _check_list),)
