"""The operations on carts: one function for each command."""

from cart.operations.cart_names import rename_cart
from cart.operations.carts import (
    ClaimedCarts,
    add_cart_to_list,
    claim_guest_carts,
    create_cart,
    delete_cart,
    initialize_cart,
    remove_cart_from_list,
    switch_cart,
    undelete_cart,
)
from cart.operations.checkout_claim import claim_cart_for_checkout
from cart.operations.emptied_carts import empty_cart, refill_cart
from cart.operations.lines import (
    BOUGHT_DAYS,
    AlreadyRead,
    LineResult,
    add_line,
    change_line_quantity,
    has_removed_bought_lines,
    remove_bought_lines,
    remove_line,
    restore_line,
)
from cart.operations.prices import accept_prices
from cart.operations.saved_lines import (
    move_saved_line_to_cart,
    remove_saved_line,
    save_line_for_later,
)
from cart.operations.transfers import (
    MoveResult,
    copy_cart,
    duplicate_cart,
    merge_carts,
    move_line,
    unmerge_carts,
)
from cart.operations.vouchers import set_voucher
