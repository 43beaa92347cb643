"""Everything that happens to orders, one function an event.

A crash anywhere leaves a hint behind: `orders_to_settle` for what an event owes (copies, stock, mail), and
`holds_by_minute` for units that are kept. The jobs read both and finish the work.
"""

from orders.operations.arriving import goods_allocated
from orders.operations.changing import order_changed
from orders.operations.copies import copies_written, empty_days_removed
from orders.operations.ending import order_expired
from orders.operations.erasing import lists_removed, order_erased
from orders.operations.hints import Hint, hint_dropped, hint_written
from orders.operations.joining import guest_orders_joined
from orders.operations.keeping import could_be_kept_until, kept_longer
from orders.operations.leaving import checkout_abandoned, checkout_left
from orders.operations.moving import note_added
from orders.operations.noticing import notice_followed
from orders.operations.parcels import (
    parcel_delivered,
    parcel_lost,
    parcel_packed,
    parcel_shipped,
    parcel_unpacked,
)
from orders.operations.paying import (
    ASK_AFTER,
    MAX_ATTEMPTS,
    Started,
    failure_noted,
    money_received,
    money_sent_back,
    payment_settled,
    payment_started,
)
from orders.operations.placing import (
    Draft,
    holding_claimed,
    holding_unclaimed,
    number_claimed,
    order_placed,
)
from orders.operations.refunding import money_settled
from orders.operations.returning import (
    refund_decided,
    return_approved,
    return_received,
    return_rejected,
    return_requested,
)
from orders.operations.settling import order_moved, settled
