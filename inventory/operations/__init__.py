"""Every change of stock. Each change is one conditional batch in one partition, and repeating the change does no harm.

    received > available > reserved > committed > shipped

A reservation's id is made of order, line and warehouse. So a repeated change, or a change whose answer was lost, finds its own
row. Cassandra reads a value once per batch, so a batch has one static UPDATE and one row, or one row for each reservation of a
group (`group_commit`).
"""

from inventory.operations.backorders import set_backorder
from inventory.operations.ledger import rebuild_stock_numbers
from inventory.operations.movements import (
    release_stock,
    release_unpaid_stock,
    restock_units,
    set_reservation_units,
)
from inventory.operations.receipts import (
    Counted,
    adjust_stock,
    open_stock_item,
    receive_stock,
    set_place,
    set_threshold,
)
from inventory.operations.reservations import (
    RESERVATION_DURATION,
    FirstReservation,
    drop_expired_minute,
    extend_reservations,
    record_reservation_expiries,
    reserve_again,
    reserve_stock,
)
from inventory.operations.stock_copies import copy_allocated_stock, copy_stock
from inventory.operations.stock_lists import follow_product
from inventory.operations.transfers import (
    advance_open_transfers,
    advance_transfer,
    end_transfer,
    record_open_transfer,
    start_transfer,
)
