"""Limits on the units of unpaid orders, for each mailbox and each network (shop_settings.terms).

Transfers and payments on delivery reserve units before anybody pays, so without a limit a stranger could sell out the shop. An
order has a row in the bucket of its mailbox and of each network. The row is written before its units are reserved, and deleted
once the order is paid or has ended. The bucket's version changes with each row, so that checking the sum and writing is one step.
Rows have a TTL, so a checkout that died does not count for ever.
"""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    applied_if,
    apply_batch,
    conditional_write,
    read,
    retry_attempts,
)
from mail.addresses import email_key
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CheckoutBusy, TooManyUnpaidUnits
from orders.lifecycle.states import CANCELLED, EXPIRED
from payments.gateways import METHODS
from shop_settings.terms import get_terms

UNPAID_UNITS = read(
    "limits", "SELECT version, order_id, units FROM unpaid_units WHERE bucket = :bucket"
)
NEXT_VERSION = conditional_write(
    "limits",
    "UPDATE unpaid_units USING TTL :seconds SET version = :version WHERE bucket = :bucket IF version = :seen",
)
COUNT_ORDER = conditional_write(
    "limits",
    """INSERT INTO unpaid_units (bucket, order_id, units) VALUES (:bucket, :order_id, :units)
       IF NOT EXISTS USING TTL :seconds""",
)
KEEP_ORDER = conditional_write(
    "limits",
    """UPDATE unpaid_units USING TTL :seconds SET units = :units WHERE bucket = :bucket AND order_id = :order_id
       IF EXISTS""",
)
RELEASE_ORDER = conditional_write(
    "limits", "DELETE FROM unpaid_units WHERE bucket = :bucket AND order_id = :order_id IF EXISTS"
)
# The longest time after its deadline until the worker expires an order.
_MARGIN = timedelta(hours=1)
# A deadline in days is the end of the last day, and a day has at most 25 hours.
_LONGEST = max(method.pay_within for method in METHODS.values()) + timedelta(hours=25) + _MARGIN
MAX_ATTEMPTS = 20


def list_buckets(email: str, networks: Sequence[tuple[str, int]]) -> dict[str, int]:
    """Return the buckets of a mailbox and its networks, each with its limit of units. Buckets without a limit are left out.

    `networks` come from web.rate_limits.list_networks: pairs of a network and the factor by which its limit is multiplied.
    """
    terms = get_terms()
    bounds = {f"mailbox {email_key(email)}": terms.unpaid_units_of_mailbox} | {
        f"network {network}": terms.unpaid_units_of_network * share for network, share in networks
    }
    return {
        # A keyed hash, so that neither the table nor the order reveals the network.
        salted_hmac("orders.unpaid_units", name, algorithm="sha256").hexdigest(): most
        for name, most in bounds.items()
        if most
    }


def count_unpaid_units(order_id: UUID, buckets: Mapping[str, int], units: int) -> None:
    """Count an order's units in each of its buckets. A second call counts nothing. After an error call `release_unpaid_units`.

    Raises TooManyUnpaidUnits if the units exceed a bucket's limit. Also raises CheckoutBusy, CassandraUnavailable.
    """
    for bucket, most in buckets.items():
        _count_in_bucket(order_id, bucket, most, units)


def _count_in_bucket(order_id: UUID, bucket: str, most: int, units: int) -> None:
    seconds = round(
        (timedelta(minutes=settings.EMAIL_CONFIRMATION_MINUTES) + _MARGIN).total_seconds()
    )
    for _ in retry_attempts(MAX_ATTEMPTS):
        rows = UNPAID_UNITS.all(bucket=bucket)
        counted = {row.order_id: row.units for row in rows if row.order_id}
        if order_id in counted:
            return
        left = max(0, most - sum(counted.values()))
        if units > left:
            raise TooManyUnpaidUnits(left)
        seen = rows[0].version if rows else None
        if apply_batch(
            NEXT_VERSION.bind(
                bucket=bucket,
                version=(seen or 0) + 1,
                seen=seen,
                seconds=round(_LONGEST.total_seconds()),
            ),
            COUNT_ORDER.bind(bucket=bucket, order_id=order_id, units=units, seconds=seconds),
            if_lost=applied_if(lambda row: bool(row.order_id == order_id)),
        ):
            return
    raise CheckoutBusy


def sync_unpaid_units(order: Order) -> None:
    """Adjust the count of unpaid units in an order's buckets to its state. An order that is paid or has ended is not counted.

    An order that waits for payment stays counted for the longest time to pay. An order with an unconfirmed e-mail address
    is left as it is. A second call changes nothing. Raises CassandraUnavailable.
    """
    is_over = order.state in (CANCELLED, EXPIRED)
    is_paid = order.captured >= order.total and not order.needs_email_confirmation
    if is_over or is_paid:
        release_unpaid_units(order.order_id, order.unpaid_unit_buckets)
    elif not order.needs_email_confirmation:
        for bucket in order.unpaid_unit_buckets:
            KEEP_ORDER.apply(
                if_lost=SEND_AGAIN,
                bucket=bucket,
                order_id=order.order_id,
                units=order.item_count,
                seconds=round(_LONGEST.total_seconds()),
            )


def release_unpaid_units(order_id: UUID, buckets: Mapping[str, int] | tuple[str, ...]) -> None:
    """Stop counting an order's units. Raises CassandraUnavailable."""
    for bucket in buckets:
        RELEASE_ORDER.apply(if_lost=REFUSED_MEANS_DONE, bucket=bucket, order_id=order_id)
