"""Processing a gateway's webhooks. Their content is not trusted: each only makes us ask the gateway, or leaves a note for staff."""

import logging
from datetime import datetime
from uuid import uuid4

from cassandra_db import REFUSED_MEANS_DONE, applied_if, conditional_write
from orders import queries
from orders.lifecycle.errors import WebhookBusy
from orders.operations.payments import settle_order_payment
from orders.operations.transitions import add_note
from payments.gateways import WebhookEvent

log = logging.getLogger(__name__)

# The time for which a request has the exclusive right to process a webhook, in seconds.
BUSY_SECONDS = 120
# How long a processed webhook is remembered, in seconds: longer than any gateway sends one again.
KNOWN_SECONDS = 7 * 24 * 3600

BEGIN_WEBHOOK = conditional_write(
    "Q12",
    """INSERT INTO payment_webhooks (gateway, event_id, state, handler) VALUES (:gateway, :event_id, 'begun', :me)
       IF NOT EXISTS USING TTL :seconds""",
)
FINISH_WEBHOOK = conditional_write(
    "Q12",
    """UPDATE payment_webhooks USING TTL :seconds SET state = 'followed', handler = :me
       WHERE gateway = :gateway AND event_id = :event_id IF state != 'followed'""",
)
FORGET_WEBHOOK = conditional_write(
    "Q12",
    "DELETE FROM payment_webhooks WHERE gateway = :gateway AND event_id = :event_id IF handler = :me",
)


def process_webhook(gateway: str, webhook: WebhookEvent, now: datetime) -> bool:
    """Ask the gateway about a webhook's payment, once for each event. Return whether the event was new.

    A webhook that failed may come again. Raises LookupError if the payment is not this order's, or has another reference at this
    gateway; WebhookBusy, GatewayUnavailable, CassandraUnavailable.
    """
    claim_values = {"gateway": gateway, "event_id": webhook.event_id, "me": uuid4()}
    claim = BEGIN_WEBHOOK.apply(
        if_lost=applied_if(lambda row: row.handler == claim_values["me"]),
        seconds=BUSY_SECONDS,
        **claim_values,
    )
    if not claim:
        if claim.current and claim.current.state == "followed":
            return False
        raise WebhookBusy
    try:
        _check_payment(gateway, webhook, now)
    except Exception:
        FORGET_WEBHOOK.apply(if_lost=REFUSED_MEANS_DONE, **claim_values)
        raise
    FINISH_WEBHOOK.apply(if_lost=REFUSED_MEANS_DONE, seconds=KNOWN_SECONDS, **claim_values)
    return True


def _check_payment(gateway: str, webhook: WebhookEvent, now: datetime) -> None:
    order = queries.get_order_by_number(webhook.number)
    order = order and queries.load_payment_references(order)
    attempts = order.payment_attempts if order else ()
    attempt = next((each for each in attempts if each.payment_id == webhook.payment_id), None)
    if order is None or attempt is None:
        raise LookupError(f"no payment {webhook.payment_id} of an order {webhook.number!r}")
    if (attempt.gateway, attempt.reference) != (gateway, webhook.reference):
        raise LookupError(
            f"payment {webhook.payment_id} of order {order.number} is another one at {gateway}"
        )
    if webhook.staff_message:
        log.error("order %s: %s", order.number, webhook.staff_message)
        if all(event.note != webhook.staff_message for event in order.events):
            add_note(order, webhook.staff_message, actor="system", now=now)
        return
    settle_order_payment(order, attempt.payment_id, now)
