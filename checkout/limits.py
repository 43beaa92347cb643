"""How often somebody may order."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.http import HttpRequest

from cart.errors import CartError
from checkout.snapshot import CheckoutSnapshot
from checkout.visit import CheckoutVisit
from inventory.errors import OutOfStock
from mail.addresses import email_key
from orders.lifecycle.errors import OrderError
from promotions.errors import VoucherRefused
from web.rate_limits import hit_local_rate_limit, hit_rate_limit


@contextmanager
def order_limit(
    request: HttpRequest, visit: CheckoutVisit, snapshot: CheckoutSnapshot
) -> Iterator[None]:
    """Count an order that is placed within the block.

    A card order is counted in this process's memory, and costs no write more. An order that nobody pays before it is sent, to an
    address that nobody has confirmed, is counted for its mailbox and its network, unless it is refused in the block. Raises TooManyAttempts, CassandraUnavailable.
    """
    if not visit.is_paid_afterwards(snapshot.total):
        hit_local_rate_limit(request, "order")
        yield
    elif visit.is_email_confirmed:
        yield
    else:
        email = visit.form.cleaned_data["email"]
        hit = hit_rate_limit(request, "unpaid_order", email_key(email))
        try:
            yield
        except (CartError, OrderError, OutOfStock, VoucherRefused):
            hit.release_slots()
            raise
