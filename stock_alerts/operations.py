"""Writes of back-in-stock subscriptions: the request, its confirmation, the single mail, and the end.

An unconfirmed address is only in the link that is mailed to it. Opening the link stores the address.
"""

from datetime import datetime, timedelta
from itertools import islice
from urllib.parse import urlencode
from uuid import UUID, uuid5

from django.conf import settings
from django.urls import reverse

from cassandra_db import SEND_AGAIN, Row, conditional_write, write
from catalogue.entities import Product, Variant
from catalogue.queries import get_sellable_variant, guard_product
from inventory.entities import Stock
from inventory.products_with_stock import AT_ONCE, ProductWithStock, get_products_with_stock
from jobs.rows import guard_row
from jobs.shards import Shard
from mail.addresses import email_key
from mail.operations import MailOptions, queue_mail
from notifications.entities import News
from notifications.kinds import start_recipient, wants_mail
from notifications.operations import tell
from pricing.quotes import line_label
from stock_alerts import queries
from stock_alerts.notifications import BACK_IN_STOCK
from stock_alerts.queries import Subscription, unsubscribe_token, variant_bucket

INSERT_SUBSCRIBED_VARIANT = write(
    "subscription",
    "INSERT INTO subscribed_variants (bucket, variant_id, product_id) VALUES (:bucket, :variant_id, :product_id)",
)
# The deletion has the write timestamp of the row that was read, so that a newer row stays.
DELETE_SUBSCRIBED_VARIANT = write(
    "subscription",
    "DELETE FROM subscribed_variants USING TIMESTAMP :written WHERE bucket = :bucket AND variant_id = :variant_id",
)
INSERT_SUBSCRIPTION = write(
    "subscription",
    "INSERT INTO subscriptions_by_email (email_key, variant_id, product_id) VALUES (:email_key, :variant_id, :product_id)",
)
DELETE_SUBSCRIPTION = write(
    "subscription",
    "DELETE FROM subscriptions_by_email WHERE email_key = :email_key AND variant_id = :variant_id",
)
INSERT_SUBSCRIBER = conditional_write(
    "subscription",
    """INSERT INTO subscriptions_by_variant (variant_id, email_key, email, product_id, asked_at, user_id)
       VALUES (:variant_id, :email_key, :email, :product_id, :now, :user_id) IF NOT EXISTS""",
)
# The statement writes all columns, so that they expire together.
UPDATE_SUBSCRIBER = conditional_write(
    "subscription",
    """UPDATE subscriptions_by_variant SET email = :email, product_id = :product_id, asked_at = :now, user_id = :user_id
       WHERE variant_id = :variant_id AND email_key = :email_key IF EXISTS""",
)
DELETE_SUBSCRIBER = conditional_write(
    "subscription",
    "DELETE FROM subscriptions_by_variant WHERE variant_id = :variant_id AND email_key = :email_key IF EXISTS",
)
# A variant is written before its subscriber. Only an older row without subscribers can be deleted.
SUBSCRIBER_GRACE = timedelta(minutes=5)
ALL_SUBSCRIPTIONS = Shard("back in stock")


def request_subscription(
    subscription: Subscription, product: Product, variant: Variant, now: datetime
) -> None:
    """Mail an address the link that confirms its subscription, at most once a day for each variant.

    Known, unknown and subscribed addresses are treated in the same way. Raises CassandraUnavailable.
    """
    link = settings.PUBLIC_URL + reverse("stock_alerts:confirm", args=[subscription.to_token()])
    context = {"name": line_label(product.name, variant.options), "url": link}
    key = email_key(subscription.email)
    queue_mail(
        uuid5(subscription.variant_id, key),
        f"asked:{now:%Y-%m-%d}",
        subscription.email,
        "confirm_subscription",
        context,
        now,
    )


def subscribe(subscription: Subscription, now: datetime, user_id: UUID | None = None) -> None:
    """Subscribe a confirmed address, of the member `user_id`, for 30 days from the last call. Raises CassandraUnavailable."""
    key, variant_columns = (
        email_key(subscription.email),
        {"variant_id": subscription.variant_id, "product_id": subscription.product_id},
    )
    INSERT_SUBSCRIBED_VARIANT.run(bucket=variant_bucket(subscription.variant_id), **variant_columns)
    INSERT_SUBSCRIPTION.run(email_key=key, **variant_columns)
    subscriber = {"email_key": key, "email": subscription.email, "now": now, "user_id": user_id}
    subscriber |= variant_columns
    if not INSERT_SUBSCRIBER.apply(**subscriber, if_lost=SEND_AGAIN):
        UPDATE_SUBSCRIBER.apply(**subscriber, if_lost=SEND_AGAIN)


def unsubscribe(email: str) -> int:
    """Delete all subscriptions of an address; return their number. Raises CassandraUnavailable."""
    key = email_key(email)
    rows = queries.SUBSCRIPTIONS.all(email_key=key)
    for row in rows:
        # Deleted in this order: after a crash, the rows that are left are still found by the address.
        DELETE_SUBSCRIBER.apply(if_lost=SEND_AGAIN, variant_id=row.variant_id, email_key=key)
        DELETE_SUBSCRIPTION.run(email_key=key, variant_id=row.variant_id)
    return len(rows)


def notify_subscribers(now: datetime, shard: Shard = ALL_SUBSCRIPTIONS) -> int:
    """Mail the subscribers of the shard's variants that are in stock again, and end their subscriptions. Return the number of mails.

    A call handles at most 200 subscribers of a variant, and the next call continues. No mail is queued twice. Raises
    CassandraUnavailable.
    """
    count, rows = (
        0,
        (row for row in queries.iterate_subscribed_variants() if shard.has_id(row.variant_id)),
    )
    while part := list(islice(rows, AT_ONCE)):
        products = get_products_with_stock((row.product_id for row in part), guard_product)
        for row in part:
            if product := products.get(row.product_id):
                with guard_row(f"subscribers of variant {row.variant_id}"):
                    count += _notify_variant_subscribers(row, product, now)
    return count


def _notify_variant_subscribers(
    row: Row, product_with_stock: ProductWithStock, now: datetime
) -> int:
    variant = get_sellable_variant(product_with_stock.product, row.variant_id)
    stock = product_with_stock.stock.get(row.variant_id, Stock())
    if product_with_stock.product is None or variant is None or stock.available < 1:
        return 0
    subscribers = queries.SUBSCRIBERS.all(variant_id=row.variant_id)
    count = 0
    for subscriber in subscribers:
        with guard_row(f"a subscriber of variant {row.variant_id}"):
            _tell_subscriber(subscriber, product_with_stock.product, variant, now)
            # In this order, an address that subscribes again in between is still found.
            DELETE_SUBSCRIPTION.run(email_key=subscriber.email_key, variant_id=row.variant_id)
            DELETE_SUBSCRIBER.apply(
                if_lost=SEND_AGAIN, variant_id=row.variant_id, email_key=subscriber.email_key
            )
            count += 1
    if not subscribers and queries.row_write_time(row) < now - SUBSCRIBER_GRACE:
        DELETE_SUBSCRIBED_VARIANT.run(
            bucket=variant_bucket(row.variant_id), variant_id=row.variant_id, written=row.written
        )
    return count


def _tell_subscriber(subscriber: Row, product: Product, variant: Variant, now: datetime) -> None:
    wants = True
    if subscriber.user_id:
        member = start_recipient(subscriber.user_id)()
        wants = member is not None and wants_mail(BACK_IN_STOCK, member.choices)
        ids = {
            "product": product.product_id.hex,
            "variant": variant.variant_id.hex,
            "since": subscriber.asked_at.isoformat(),
        }
        tell([News(BACK_IN_STOCK, subscriber.user_id, now, ids)])
    if not wants:
        return
    context = _mail_context(product, variant, subscriber.email)
    queue_mail(
        uuid5(variant.variant_id, subscriber.email_key),
        f"back:{subscriber.asked_at.isoformat()}",
        subscriber.email,
        "back_in_stock",
        context,
        now,
        MailOptions(unsubscribe_url=context["end_url"]),
    )


def _mail_context(product: Product, variant: Variant, email: str) -> dict[str, str]:
    page = f"{reverse('product', args=[product.slug])}?{urlencode({'variant': variant.sku})}"
    return {
        "name": line_label(product.name, variant.options),
        "url": settings.PUBLIC_URL + page,
        "end_url": settings.PUBLIC_URL
        + reverse("stock_alerts:unsubscribe", args=[unsubscribe_token(email)]),
    }
