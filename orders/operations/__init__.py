"""Everything that happens to orders, one function an event.

A crash anywhere leaves a hint behind: `orders_to_settle` for what an event owes (copies, stock, mail), and
`holds_by_minute` for units that are kept. The jobs read both and finish the work.
"""

from orders.operations.arriving import allocate_backorders
from orders.operations.changing import change_order
from orders.operations.copies import delete_empty_days, write_copies
from orders.operations.ending import expire_order
from orders.operations.erasing import anonymize_order, delete_order_lists
from orders.operations.hints import PendingEffect, clear_pending_effects, record_pending_effects
from orders.operations.joining import claim_guest_orders
from orders.operations.keeping import extend_payment_deadline, next_payment_deadline
from orders.operations.leaving import abandon_checkout, mark_checkout_abandoned
from orders.operations.moving import add_note
from orders.operations.noticing import process_webhook
from orders.operations.parcels import (
    mark_parcel_delivered,
    mark_parcel_lost,
    pack_parcel,
    ship_parcel,
    unpack_parcel,
)
from orders.operations.paying import (
    ASK_AFTER,
    MAX_ATTEMPTS,
    PaymentRedirect,
    record_manual_payment,
    record_manual_refund,
    record_payment_failure,
    settle_payment,
    start_payment,
)
from orders.operations.placing import (
    OrderDraft,
    claim_expired_order,
    claim_order_number,
    place_order,
    unclaim_expired_order,
)
from orders.operations.refunding import settle_money
from orders.operations.returning import (
    approve_return,
    decide_refund,
    receive_return,
    reject_return,
    request_return,
)
from orders.operations.settling import apply_effects, transition_order
