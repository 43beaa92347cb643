"""The commands on orders, one function for each event.

A crash leaves a row behind: in `pending_effects_by_minute` for an event's effects (copies, stock, mail), in
`reservations_by_minute` for reserved units. The jobs read both and finish the work.
"""

from orders.operations.abandonment import (
    abandon_checkout,
    delete_abandoned_items,
    mark_checkout_abandoned,
)
from orders.operations.backorders import allocate_backorders
from orders.operations.board_counts import count_board_orders, recount_column
from orders.operations.changes import change_order, compute_change_refund
from orders.operations.confirmation import confirm_email, reject_order, resend_confirmation_mail
from orders.operations.copies import delete_empty_days, write_copies
from orders.operations.customer_segments import count_customer_segments
from orders.operations.effects import apply_effects, ensure_bought_items_removed, transition_order
from orders.operations.erasure import anonymize_order, delete_order_lists
from orders.operations.expiry import expire_order
from orders.operations.guest_orders import claim_guest_orders
from orders.operations.order_values import OrderDraft
from orders.operations.parcels import (
    correct_tracking,
    mark_parcel_delivered,
    mark_parcel_lost,
    pack_parcel,
    ship_order,
    ship_parcel,
    unpack_parcel,
)
from orders.operations.payment_deadline import extend_payment_deadline, next_payment_deadline
from orders.operations.payments import (
    MAX_ATTEMPTS,
    PaymentRedirect,
    record_manual_payment,
    record_manual_refund,
    settle_order_payment,
    settle_payment,
    start_payment,
)
from orders.operations.pending_effects import (
    ASK_AFTER,
    PendingEffect,
    clear_pending_effects,
    record_payment_inquiry,
    record_pending_effects,
)
from orders.operations.placement import (
    CLAIM_SECONDS,
    claim_expired_order,
    claim_order_number,
    place_order,
    unclaim_expired_order,
)
from orders.operations.refunds import settle_captures_and_refunds
from orders.operations.returning_customers import count_returning_customers
from orders.operations.returns import (
    approve_return,
    close_return,
    decide_refund,
    receive_return,
    reject_return,
    request_return,
)
from orders.operations.tags import change_tags
from orders.operations.transitions import add_note
from orders.operations.user_stats import count_user_stats, delete_user_stats, unlist_customer
from orders.operations.webhooks import process_webhook
from orders.operations.withdrawals import record_withdrawal
