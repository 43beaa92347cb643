"""Everything that happens to orders, one function an event.

A crash anywhere leaves a hint behind: `orders_to_settle` for what an event owes (copies, stock, mail), and
`holds_by_minute` for units that are kept. The jobs read both and finish the work.
"""

from orders.operations.copies import copies_written, empty_days_removed
from orders.operations.hints import Hint, hint_dropped, hint_written
from orders.operations.moving import note_added
from orders.operations.paying import (
    ASK_AFTER,
    MAX_ATTEMPTS,
    Started,
    failure_noted,
    holding_claimed,
    holding_unclaimed,
    payment_settled,
    payment_started,
)
from orders.operations.placing import Draft, checkout_abandoned, number_claimed, order_placed
from orders.operations.settling import order_moved, settled

__all__ = [
    "ASK_AFTER",
    "MAX_ATTEMPTS",
    "Draft",
    "Hint",
    "Started",
    "checkout_abandoned",
    "copies_written",
    "empty_days_removed",
    "failure_noted",
    "hint_dropped",
    "hint_written",
    "holding_claimed",
    "holding_unclaimed",
    "note_added",
    "number_claimed",
    "order_moved",
    "order_placed",
    "payment_settled",
    "payment_started",
    "settled",
]
