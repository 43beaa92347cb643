"""The tag for the tools in the header of a page: the account, the cart, and the carts to switch to."""

from dataclasses import dataclass

from django import template
from django.contrib.auth.models import AnonymousUser

from accounts.models import User
from cart.entities import CartBadge, ListedCart

register = template.Library()


@dataclass(frozen=True)
class HeaderTools:
    """The values for the tools. `staff_home` is the address where a staff user's work begins, or ""."""

    is_signed_in: bool
    staff_home: str
    cart_name: str
    item_count: int
    other_carts: tuple[ListedCart, ...]
    new_count: int  # of notifications, for the bell

    def cart_badge(self) -> CartBadge:
        return CartBadge(self.cart_name, self.item_count, others=self.other_carts)


@register.simple_tag
def header_tools(
    user: User | AnonymousUser, staff_home: str, badge: CartBadge, new_count: int
) -> HeaderTools:
    """Return the values for the tools on a page. `new_count` is read for members alone."""
    return HeaderTools(
        user.is_authenticated,
        staff_home,
        badge.name,
        badge.item_count,
        badge.others,
        new_count if user.is_authenticated else 0,
    )
