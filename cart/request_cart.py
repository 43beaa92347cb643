"""What one request knows of its visitor's carts, so that nothing is read twice for it."""

from dataclasses import dataclass
from typing import cast
from uuid import UUID

from django.http import HttpRequest

from cart import queries
from cassandra_db import Chain


@dataclass
class RequestCart:
    """The header's cart as it is being read, and what the answer's cookie will remember.

    `new_guest_id` is a guest's who has put in a first thing just now; `active_cart_id` the cart that was seen to be active.
    """

    new_guest_id: UUID | None = None
    active_cart_id: UUID | None = None
    _reading: tuple[UUID, Chain] | None = None

    def prefetch_badge(self, owner_id: UUID) -> Chain:
        """Return the header's cart as it is read for this owner, started now if it was not before.

        What was started for somebody else is not theirs: a session may end, or begin, while a request is answered.
        """
        if self._reading is None or self._reading[0] != owner_id:
            return self.prefetch_badge_again(owner_id)
        return self._reading[1]

    def prefetch_badge_again(self, owner_id: UUID) -> Chain:
        """Start reading the header's cart, once more after a press has changed it."""
        self._reading = owner_id, queries.prefetch_badge(owner_id)
        return self._reading[1]


def get_request_cart(request: HttpRequest) -> RequestCart:
    """Return what a request knows of its visitor's carts; nothing yet, at the first look."""
    return cast(RequestCart, vars(request).setdefault("request_cart", RequestCart()))
