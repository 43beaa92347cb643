"""I14: lists that find items by another key are complete: a mailbox's mails, an order's codes, a person's log entries.

A list's row is written before the item that it leads to. So a crash may leave a row without its item, which does no harm. A missing
row would hide the item from an export, an erasure or the worker. The item is read again before its row is reported or written: the
scan asks one node, which may still have deleted items with a person's address.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accounts.audit_log import ENTERED_BY_ACTOR, ORIGIN_ENTERED_BY_ACTOR
from cart.operations.sharing import INSERT_INVITED
from cart.people import INVITATION
from cassandra_db import Row, Statement, read, scan, write_batch
from consistency.findings import Check, Violation, call, table_subjects
from mail import fates
from mail.addresses import email_key
from mail.operations import AT_ORDER, TO_RECIPIENT
from promotions.operations import INSERT_VOUCHER_BY_ORDER
from stock_alerts.operations import INSERT_SUBSCRIBED_VARIANT, INSERT_SUBSCRIPTION
from stock_alerts.queries import variant_bucket

MAILS = scan(
    "I14",
    """SELECT mail_id, recipient, order_number, subject, queued_at, sent_at, fate, failed_at FROM mails
       WHERE token(mail_id) > :start AND token(mail_id) <= :end""",
)
MAIL = read(
    "I14",
    """SELECT mail_id, recipient, order_number, subject, queued_at, sent_at, fate, failed_at FROM mails
       WHERE mail_id = :mail_id""",
)
MAIL_LISTED = read(
    "I14",
    "SELECT mail_id FROM mails_by_recipient WHERE recipient = :recipient AND mail_id = :mail_id",
)
MAIL_AT_ORDER = read(
    "I14",
    """SELECT mail_id, fate FROM mails_by_order WHERE order_number = :order_number AND mail_id = :mail_id""",
)
INVITATIONS = scan(
    "I14",
    """SELECT cart_id, kind, key, email FROM people_by_cart
       WHERE token(cart_id) > :start AND token(cart_id) <= :end""",
)
INVITATION_ROW = read(
    "I14",
    "SELECT cart_id, kind, key, email FROM people_by_cart WHERE cart_id = :cart_id AND kind = :kind AND key = :key",
)
INVITATION_LISTED = read(
    "I14", "SELECT cart_id FROM invitations_by_email WHERE email = :email AND cart_id = :cart_id"
)
SUBSCRIBERS = scan(
    "I14",
    """SELECT variant_id, email_key, product_id FROM subscriptions_by_variant
       WHERE token(variant_id) > :start AND token(variant_id) <= :end""",
)
SUBSCRIBER = read(
    "I14",
    """SELECT variant_id, email_key, product_id FROM subscriptions_by_variant
       WHERE variant_id = :variant_id AND email_key = :email_key""",
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
VOUCHER_USE = read(
    "I14", "SELECT key, claim, order_id FROM voucher_uses WHERE key = :key AND claim = :claim"
)
VOUCHER_LISTED = read(
    "I14", "SELECT key FROM vouchers_by_order WHERE order_id = :order_id AND key = :key"
)
LOG = scan(
    "I14",
    """SELECT book, day, at, part, actor_id FROM audit_log
       WHERE token(book, day) > :start AND token(book, day) <= :end""",
)
LOG_ENTRY = read(
    "I14",
    """SELECT book, day, at, part, actor_id, actor, act, subject, fields, outcome, changes, request_id, address, device,
              TTL(address) AS seconds
       FROM audit_log WHERE book = :book AND day = :day AND at = :at AND part = :part""",
)
LOG_LISTED = read(
    "I14",
    "SELECT at FROM audit_log_by_actor WHERE actor_id = :actor_id AND month = :month AND at = :at AND part = :part",
)


@dataclass(frozen=True)
class ListRule:
    """A list that finds items by another key. Its statements scan items, read one by `thing_key`, and read or write a row by `key`.

    `values` returns the columns of the row that leads to an item, or None if the item needs no row.
    """

    table: str
    things: Statement
    thing: Statement
    thing_key: tuple[str, ...]
    listed: Statement
    key: tuple[str, ...]
    values: Callable[[Row], Mapping[str, Any] | None]
    write: Callable[..., object]
    copied: tuple[str, ...] = ()  # columns that must be equal in the item and in the list's row

    def is_listed(self, values: Mapping[str, Any]) -> bool:
        """Return whether the list has a row with these values."""
        row = self.listed.one(**{name: values[name] for name in self.key})
        return row is not None and all(getattr(row, name) == values[name] for name in self.copied)

    def read_again(self, row: Row) -> Mapping[str, Any] | None:
        """Return the row's values for a scanned item, which a majority of nodes confirms; None if the item no longer exists."""
        found = self.thing.one(**{name: getattr(row, name) for name in self.thing_key})
        return self.values(found) if found else None

    def write_again(self, row: Row) -> None:
        """Write the list's row, unless its item was deleted meanwhile."""
        if values := self.read_again(row):
            self.write(**values)


def _log_values(row: Row) -> Mapping[str, Any] | None:
    if row.actor_id is None:
        return None
    values: dict[str, Any] = row._asdict()
    values["month"] = values.pop("day").date().replace(day=1)
    return values


def _values_at_order(row: Row) -> Mapping[str, Any] | None:
    """Return the values of a mail's row in the list of its order; None for a waiting mail, which needs no row."""
    fate = fates.get_fate(row)
    if not row.recipient or not row.order_number or fate == fates.WAITING:
        return None
    return {
        "order_number": row.order_number,
        "mail_id": row.mail_id,
        "subject": row.subject,
        "queued_at": row.queued_at,
        "fate": fate,
        "at": fates.copy_timestamp(row.queued_at, fate),
    }


def _write_log_entry(*, address: str | None, device: str, seconds: int, **entry: Any) -> None:
    """Write an entry of the audit log. Its address and device expire at the same time as in the original entry."""
    rows = [ENTERED_BY_ACTOR.bind(**entry)]
    if address:
        place = {name: entry[name] for name in ("actor_id", "month", "at", "part")}
        rows.append(
            ORIGIN_ENTERED_BY_ACTOR.bind(**place, address=address, device=device, seconds=seconds)
        )
    write_batch(rows)


RULES = {
    rule.table: rule
    for rule in (
        ListRule(
            "mails_by_recipient",
            MAILS,
            MAIL,
            ("mail_id",),
            MAIL_LISTED,
            ("recipient", "mail_id"),
            # The columns of a later attempt expire later than the other columns, by the time between the attempts.
            lambda row: (
                {"recipient": email_key(row.recipient), "mail_id": row.mail_id}
                if row.recipient
                else None
            ),
            TO_RECIPIENT.run,
        ),
        ListRule(
            "mails_by_order",
            MAILS,
            MAIL,
            ("mail_id",),
            MAIL_AT_ORDER,
            ("order_number", "mail_id"),
            _values_at_order,
            AT_ORDER.run,
            copied=("fate",),
        ),
        ListRule(
            "invitations_by_email",
            INVITATIONS,
            INVITATION_ROW,
            ("cart_id", "kind", "key"),
            INVITATION_LISTED,
            ("email", "cart_id"),
            lambda row: (
                {"email": email_key(row.email), "cart_id": row.cart_id}
                if row.kind == INVITATION
                else None
            ),
            INSERT_INVITED.run,
        ),
        ListRule(
            "subscriptions_by_email",
            SUBSCRIBERS,
            SUBSCRIBER,
            ("variant_id", "email_key"),
            SUBSCRIPTION_LISTED,
            ("email_key", "variant_id"),
            lambda row: row._asdict(),
            INSERT_SUBSCRIPTION.run,
        ),
        ListRule(
            "subscribed_variants",
            SUBSCRIBERS,
            SUBSCRIBER,
            ("variant_id", "email_key"),
            VARIANT_LISTED,
            ("bucket", "variant_id"),
            lambda row: {
                "bucket": variant_bucket(row.variant_id),
                "variant_id": row.variant_id,
                "product_id": row.product_id,
            },
            INSERT_SUBSCRIBED_VARIANT.run,
        ),
        ListRule(
            "vouchers_by_order",
            VOUCHER_USES,
            VOUCHER_USE,
            ("key", "claim"),
            VOUCHER_LISTED,
            ("order_id", "key"),
            lambda row: (
                {"order_id": row.order_id, "key": row.key}
                if (row.claim or "").startswith("order:")
                else None
            ),
            INSERT_VOUCHER_BY_ORDER.run,
        ),
        ListRule(
            "audit_log_by_actor",
            LOG,
            LOG_ENTRY,
            ("book", "day", "at", "part"),
            LOG_LISTED,
            ("actor_id", "month", "at", "part"),
            _log_values,
            _write_log_entry,
        ),
    )
}


def check_list(table: str) -> Iterator[Violation]:
    rule, fault = RULES[table], "is missing where it has to be found"
    if rule.copied:
        fault += ", or says something else there"
    for row in rule.things.iterate_table():
        values = rule.values(row)
        if values is None or rule.is_listed(values):
            continue
        place = ", ".join(str(values[name]) for name in rule.key)
        current = rule.read_again(row)
        if current and not rule.is_listed(current):
            subject, fix = f"{table}: {place}", call(rule.write_again, row)
            yield Violation("I14", subject, fault, fix=fix)


CHECKS = (Check("lists", ("I14",), table_subjects(RULES), check_list),)
