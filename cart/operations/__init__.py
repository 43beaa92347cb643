"""Everything that happens to carts, one function an event."""

from cart.operations.carts import (
    Adopted,
    cart_deleted,
    cart_listed,
    cart_made,
    cart_started,
    cart_switched,
    cart_undeleted,
    cart_unlisted,
    carts_adopted,
)
from cart.operations.lines import (
    BOUGHT_DAYS,
    Added,
    line_added,
    line_changed,
    line_removed,
    line_restored,
    lines_bought,
)
from cart.operations.moving import (
    Moved,
    cart_duplicated,
    cart_emptied,
    cart_refilled,
    carts_merged,
    carts_parted,
    later_dropped,
    line_kept,
    line_moved,
    line_taken_up,
)
from cart.operations.ordering import cart_taken
from cart.operations.prices import prices_agreed
from cart.operations.renaming import cart_renamed
from cart.operations.vouchers import voucher_set
