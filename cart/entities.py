"""Carts and lines, and their summaries in the header and on the list of carts."""

from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from moneyed import Money

from cart import limits
from cart.names import default_name
from pricing.quotes import VariantSnapshot


@dataclass(frozen=True)
class Line(VariantSnapshot):
    """A line of a cart: a variant, as it was when it was added. `price` is for one unit, `total` for all, with tax."""

    key: str
    price: Money
    quantity: int
    total: Money
    added_at: datetime

    @property
    def limit_message(self) -> str:
        """A sentence that says how many more units the line can have; "" while the limit is far."""
        return limits.unit_limit_message(self.quantity)


@dataclass(frozen=True)
class Cart:
    """A cart with its lines, newest first. The counts and the subtotal always agree with the lines.

    `subtotal` is the sum at the prices at which the lines were added; conditional writes use it. Pages show today's prices
    (cart.priced_cart).
    """

    cart_id: UUID
    name: str
    lines: tuple[Line, ...]
    line_count: int
    item_count: int
    subtotal: Money
    version: int
    checkout_id: UUID | None = None  # the checkout that claims the cart, or claimed it last
    checkout_number: int = (
        0  # the number of the cart's checkouts that had ended without payment before this one
    )
    voucher: str = ""  # the voucher's code, as it was typed

    @property
    def limit_message(self) -> str:
        """How many more lines the cart can hold, once few are left."""
        return limits.line_limit_message(self.line_count)

    def get_line(self, key: str) -> Line | None:
        """Return the line with this key, or None."""
        return next((line for line in self.lines if line.key == key), None)


@dataclass(frozen=True)
class ListedCart:
    """A cart on a person's list. `role` is '' for the owner; `used_at` is the time at which the cart last became the active one."""

    cart_id: UUID
    name: str
    is_active: bool
    role: str
    shared_by: str
    used_at: datetime


@dataclass(frozen=True)
class CartBadge:
    """The active cart in the header, and the carts to switch to, last used first."""

    name: str = field(default_factory=default_name)
    item_count: int = 0
    cart_id: UUID | None = None
    others: tuple[ListedCart, ...] = ()
    limit_message: str = ""  # how many more lines the cart can hold, once few are left


@dataclass(frozen=True)
class CartWithProduct:
    """A cart, and the number of units of a product in it, in all variants."""

    cart: ListedCart
    units: int


@dataclass(frozen=True)
class CartCard:
    """A cart as the list of carts shows it. `pictures` show a few of its lines.

    `subtotal` is the sum on the cart's page (PricedCart.subtotal), or None if the list does not compute it, as for many lines.
    """

    cart: ListedCart
    line_count: int
    item_count: int
    later_count: int
    subtotal: Money | None
    changed_at: datetime
    pictures: tuple[str, ...]
    is_shared: bool
