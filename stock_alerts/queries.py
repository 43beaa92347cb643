"""Reads of back-in-stock subscriptions, and the encrypted tokens in their mails."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from cassandra_db import PendingResult, Row, read
from mail.addresses import email_key
from web.encryption import DecryptionError, decrypt_token, encrypt_token

BUCKETS = 16
AT_ONCE = 200
LINK_SECONDS = 7 * 24 * 3600
_PURPOSE = "cart.waiting"

SUBSCRIBED_VARIANTS = read(
    "subscription",
    "SELECT variant_id, product_id, WRITETIME(product_id) AS written FROM subscribed_variants WHERE bucket = :bucket",
)
SUBSCRIBERS = read(
    "subscription",
    "SELECT variant_id, email_key, email, product_id, asked_at, user_id FROM subscriptions_by_variant WHERE variant_id = :variant_id LIMIT 200",
)
# To count a variant's subscribers, up to a thousand.
SUBSCRIBER_KEYS = read(
    "subscription",
    "SELECT variant_id FROM subscriptions_by_variant WHERE variant_id = :variant_id LIMIT 1000",
)
SUBSCRIBER = read(
    "subscription",
    """SELECT email, product_id, asked_at FROM subscriptions_by_variant
       WHERE variant_id = :variant_id AND email_key = :email_key""",
)
SUBSCRIPTIONS = read(
    "subscription",
    "SELECT variant_id, product_id FROM subscriptions_by_email WHERE email_key = :email_key",
)


@dataclass(frozen=True)
class Subscription:
    """The subscription of an e-mail address to a variant."""

    product_id: UUID
    variant_id: UUID
    email: str

    def to_token(self) -> str:
        """Return the encrypted token of the link that confirms the subscription."""
        return encrypt_token([self.product_id.hex, self.variant_id.hex, self.email], _PURPOSE)


def parse_subscription_token(token: str) -> Subscription | None:
    """Return the subscription that a link confirms; None if the link is forged or older than seven days."""
    try:
        product, variant, email = decrypt_token(token, _PURPOSE, max_age=LINK_SECONDS)
    except DecryptionError:
        return None
    return Subscription(UUID(hex=product), UUID(hex=variant), email)


def unsubscribe_token(email: str) -> str:
    """Return the encrypted token that ends all subscriptions of an address. It never expires."""
    return encrypt_token([email], f"{_PURPOSE}.end")


def parse_unsubscribe_token(token: str) -> str | None:
    """Return the address whose subscriptions a link ends; None if the link is forged."""
    try:
        (email,) = decrypt_token(token, f"{_PURPOSE}.end")
    except DecryptionError:
        return None
    return email


def variant_bucket(variant_id: UUID) -> int:
    """Return the bucket in which a subscribed variant is stored."""
    return variant_id.int % BUCKETS


def iterate_subscribed_variants() -> Iterator[Row]:
    """Yield the rows of the variants that have or recently had subscribers. Raises CassandraUnavailable."""
    reading = [SUBSCRIBED_VARIANTS.start(bucket=bucket) for bucket in range(BUCKETS)]
    for pending in reading:
        yield from pending.rows()


def prefetch_subscriber_keys(variant_id: UUID) -> PendingResult:
    """Start reading a row for each of a variant's subscribers, at most a thousand, to count them."""
    return SUBSCRIBER_KEYS.start(variant_id=variant_id)


def list_subscriptions(email: str) -> list[Row]:
    """Return the rows of an address's subscriptions: variant, product and time of subscription. Raises CassandraUnavailable."""
    key = email_key(email)
    reading = [
        SUBSCRIBER.start(variant_id=row.variant_id, email_key=key)
        for row in SUBSCRIPTIONS.all(email_key=key)
    ]
    return [row for pending in reading if (row := pending.one())]


def row_write_time(row: Row) -> datetime:
    """Return the time at which a row of `iterate_subscribed_variants` was written."""
    return datetime.fromtimestamp(row.written / 1_000_000, UTC)
