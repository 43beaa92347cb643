"""I8, I14: rows by e-mail address have one spelling of the address as their key (`mail.addresses.email_key`, S109).

An earlier version kept international domains as typed, so that a mailbox could have two keys. `check_consistency --repair` moves
rows with a wrong key. The lists of orders by address are copies, which I3 checks.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from accounts.operations.email_claims import EMAIL_RELEASED, claim_email
from accounts.queries import get_user
from cart.operations.sharing import DELETE_INVITED, INSERT_INVITED
from cassandra_db import REFUSED_MEANS_DONE, SEND_AGAIN, Row, Statement, scan
from consistency.findings import Check, Violation, table_subjects
from mail.addresses import address_bucket, email_key
from mail.operations import DELETE_RECIPIENT, GETS_MAIL, GETS_NO_MAIL, TO_RECIPIENT
from reviews.operations import ALLOW_REQUESTS, STOP_REQUESTS
from stock_alerts.operations import (
    DELETE_SUBSCRIBER,
    DELETE_SUBSCRIPTION,
    INSERT_SUBSCRIBER,
    INSERT_SUBSCRIPTION,
)

CLAIMS = scan(
    "I8",
    "SELECT email, user_id FROM users_by_email WHERE token(email) > :start AND token(email) <= :end",
)
MAILS = scan(
    "I14",
    """SELECT recipient, mail_id FROM mails_by_recipient
       WHERE token(recipient) > :start AND token(recipient) <= :end""",
)
INVITATIONS = scan(
    "I14",
    """SELECT email, cart_id FROM invitations_by_email
       WHERE token(email) > :start AND token(email) <= :end""",
)
UNDELIVERABLE = scan(
    "I14",
    """SELECT bucket, email, bounced_at, failure, mail_id FROM undeliverable_addresses
       WHERE token(bucket) > :start AND token(bucket) <= :end""",
)
STOPS = scan(
    "I14",
    """SELECT email, stopped_at FROM review_request_stops
       WHERE token(email) > :start AND token(email) <= :end""",
)
SUBSCRIBERS = scan(
    "I14",
    """SELECT variant_id, email_key, email, product_id, asked_at, user_id FROM subscriptions_by_variant
       WHERE token(variant_id) > :start AND token(variant_id) <= :end""",
)


@dataclass(frozen=True)
class MailboxTable:
    """A table with e-mail addresses in its key `column`. Wrong keys violate the invariant `rule`. `move` gives a row the right key."""

    rule: str
    rows: Statement
    column: str
    move: Callable[[Row, str, datetime], object]


# Each function writes the new row before it deletes the old one. So after a crash the next check finishes the move.


def _move_claim(row: Row, key: str, now: datetime) -> None:
    # If two accounts have the mailbox, one gets the claim, and I8 reports the other account.
    if get_user(row.user_id):
        claim_email(key, row.user_id, now)
    EMAIL_RELEASED.apply(if_lost=REFUSED_MEANS_DONE, email=row.email, user_id=row.user_id)


def _move_mail(row: Row, key: str, now: datetime) -> None:
    TO_RECIPIENT.run(recipient=key, mail_id=row.mail_id)
    # This deletes all mails of the address. The check of that list (I14) writes the other rows again.
    DELETE_RECIPIENT.run(recipient=row.recipient)


def _move_invitation(row: Row, key: str, now: datetime) -> None:
    INSERT_INVITED.run(email=key, cart_id=row.cart_id)
    DELETE_INVITED.run(email=row.email)


def _move_undeliverable(row: Row, key: str, now: datetime) -> None:
    GETS_NO_MAIL.run(**row._asdict() | {"bucket": address_bucket(key), "email": key})
    GETS_MAIL.run(bucket=row.bucket, email=row.email)


def _move_stop(row: Row, key: str, now: datetime) -> None:
    STOP_REQUESTS.run(email=key, stopped_at=row.stopped_at)
    ALLOW_REQUESTS.run(email=row.email)


def _move_subscriber(row: Row, key: str, now: datetime) -> None:
    variant = {"variant_id": row.variant_id, "product_id": row.product_id}
    INSERT_SUBSCRIPTION.run(email_key=key, **variant)
    INSERT_SUBSCRIBER.apply(
        if_lost=SEND_AGAIN,
        email_key=key,
        email=row.email,
        now=row.asked_at,
        user_id=row.user_id,
        **variant,
    )
    DELETE_SUBSCRIBER.apply(if_lost=SEND_AGAIN, variant_id=row.variant_id, email_key=row.email_key)
    DELETE_SUBSCRIPTION.run(email_key=row.email_key, variant_id=row.variant_id)


TABLES = {
    "users_by_email": MailboxTable("I8", CLAIMS, "email", _move_claim),
    "mails_by_recipient": MailboxTable("I14", MAILS, "recipient", _move_mail),
    "invitations_by_email": MailboxTable("I14", INVITATIONS, "email", _move_invitation),
    "undeliverable_addresses": MailboxTable("I14", UNDELIVERABLE, "email", _move_undeliverable),
    "review_request_stops": MailboxTable("I14", STOPS, "email", _move_stop),
    "subscriptions_by_variant": MailboxTable("I14", SUBSCRIBERS, "email_key", _move_subscriber),
}


def _check_table(name: str) -> Iterator[Violation]:
    table = TABLES[name]
    for row in table.rows.iterate_table():
        typed = getattr(row, table.column)
        if (key := email_key(typed)) != typed:
            fault = "is the key of an address that is written otherwise"
            fix = partial(table.move, row, key)
            yield Violation(table.rule, f"{name}: {typed}", fault, fix=fix)


CHECKS = (Check("mailboxes", ("I8", "I14"), table_subjects(TABLES), _check_table),)
