"""The reads of the visitor's carts in one request, kept so that no read is repeated."""

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.http import HttpRequest

from cart import queries
from cart.entities import CartBadge
from cassandra_db import Chain


@dataclass
class RequestCart:
    """The pending reads of the header's cart, and the values that the response's cookie will store.

    `new_guest_id` is the id of a guest who has just added a first line; `active_cart_id` is the cart that was read as the active one;
    `badge` is the header's cart after a submit; `cookie` has the guest and the cart that the request's cookie names.
    """

    new_guest_id: UUID | None = None
    active_cart_id: UUID | None = None
    badge: CartBadge | None = None
    cookie: tuple[UUID | None, UUID | None] | None = None
    _reading: tuple[UUID, Chain] | None = None
    _active: tuple[UUID, queries.PendingActiveCart] | None = None

    def prefetch_active_cart(
        self, owner_id: UUID, expected_cart_id: UUID | None
    ) -> queries.PendingActiveCart:
        """Return the pending read of this owner's active cart, starting it if needed."""
        if self._active is None or self._active[0] != owner_id:
            self._active = owner_id, queries.PendingActiveCart(owner_id, expected_cart_id)
        return self._active[1]

    def prefetch_badge(self, owner_id: UUID) -> Chain:
        """Return the pending read of this owner's header cart, starting it if needed.

        A read for another owner is not reused: a session can begin or end during a request.
        """
        if self._reading is None or self._reading[0] != owner_id:
            return self.prefetch_badge_again(owner_id)
        return self._reading[1]

    def prefetch_badge_again(self, owner_id: UUID) -> Chain:
        """Start reading the header's cart again, after a submit has changed it."""
        self.badge = None
        self._reading = owner_id, queries.prefetch_badge(owner_id)
        return self._reading[1]


def get_request_cart(request: HttpRequest) -> RequestCart:
    """Return the RequestCart of a request; the first call makes an empty one."""
    return cast(RequestCart, vars(request).setdefault("request_cart", RequestCart()))
