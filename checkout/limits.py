"""The rate limits on orders."""

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
    """Count the order that the block places towards the rate limits.

    A card order is counted in memory, without a write. An order that is paid afterwards, from an unconfirmed e-mail address, is counted
    for the address and the network, unless the block refuses the order. Raises TooManyAttempts, CassandraUnavailable.
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
