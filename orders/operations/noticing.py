"""What a gateway tells of its own accord. A notice is a reason to ask, and nothing more: what it says is not believed.

What cannot be asked for is written down for staff, who look at it.
"""

import logging
from datetime import datetime
from uuid import uuid4

from cassandra_db import REFUSED_MEANS_DONE, applied_if, conditional
from orders import queries
from orders.errors import NoticeBusy
from orders.operations.moving import note_added
from orders.operations.paying import payment_settled
from payments.gateways import Notice

log = logging.getLogger(__name__)

# For how long a request has a notice to itself, in seconds; after that, whoever died on the way is forgotten.
BUSY_SECONDS = 120
# For how long a notice that was followed is known, in seconds: longer than any gateway sends one again.
KNOWN_SECONDS = 7 * 24 * 3600

BEGIN = conditional(
    "Q12",
    """INSERT INTO payment_notices (gateway, event_id, state, follower) VALUES (:gateway, :event_id, 'begun', :me)
       IF NOT EXISTS USING TTL :seconds""",
)
FOLLOWED = conditional(
    "Q12",
    """UPDATE payment_notices USING TTL :seconds SET state = 'followed', follower = :me
       WHERE gateway = :gateway AND event_id = :event_id IF state != 'followed'""",
)
DROPPED = conditional(
    "Q12",
    "DELETE FROM payment_notices WHERE gateway = :gateway AND event_id = :event_id IF follower = :me",
)


def notice_followed(gateway: str, notice: Notice, now: datetime) -> bool:
    """Ask the gateway about the payment that its notice is about, once an event; tell whether it was the first time.

    One that could not be followed may come again. Raises LookupError for a payment that is not this order's, or that
    this gateway knows by another name; NoticeBusy, GatewayAway, CassandraUnavailable.
    """
    told = {"gateway": gateway, "event_id": notice.event_id, "me": uuid4()}
    begun = BEGIN.apply(
        if_lost=applied_if(lambda row: row.follower == told["me"]), seconds=BUSY_SECONDS, **told
    )
    if not begun:
        if begun.current and begun.current.state == "followed":
            return False
        raise NoticeBusy
    try:
        _asked(gateway, notice, now)
    except Exception:
        DROPPED.apply(if_lost=REFUSED_MEANS_DONE, **told)
        raise
    FOLLOWED.apply(if_lost=REFUSED_MEANS_DONE, seconds=KNOWN_SECONDS, **told)
    return True


def _asked(gateway: str, notice: Notice, now: datetime) -> None:
    order = queries.order_by_number(notice.number)
    tries = queries.attempts(order.order_id) if order else ()
    attempt = next((each for each in tries if each.payment_id == notice.payment_id), None)
    if order is None or attempt is None:
        raise LookupError(f"no payment {notice.payment_id} of an order {notice.number!r}")
    if (attempt.gateway, attempt.reference) != (gateway, notice.reference):
        raise LookupError(
            f"payment {notice.payment_id} of order {order.number} is another one at {gateway}"
        )
    if notice.for_staff:
        log.error("order %s: %s", order.number, notice.for_staff)
        if all(event.note != notice.for_staff for event in order.events):
            note_added(order, notice.for_staff, actor="system", now=now)
        return
    payment_settled(order.order_id, attempt.payment_id, now)
