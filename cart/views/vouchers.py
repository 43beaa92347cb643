"""The view that sets or removes a cart's code."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from cart import operations, owner
from cart.access import EDIT, require_access
from cart.errors import CartError, NoSuchCart
from cart.forms import VoucherForm
from cart.pages import (
    get_voucher_customer_keys,
    render_cart_page,
    render_changed_cart,
    render_refusal,
)
from cassandra_db import current_time
from promotions import queries as promotions
from promotions.entities import Voucher
from web.decorators import owner_only, post_only
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_too_many_attempts


@post_only("cart:show")
@owner_only
def set_voucher(request: HttpRequest) -> HttpResponse:
    """Set a cart's code, or remove it."""
    form, person_id = VoucherForm(request.POST), owner.get_owner_id(request)
    removing = "remove" in request.POST
    if "cart" in form.errors or person_id is None:
        return render_refusal(request, str(NoSuchCart()))
    if not removing and not form.is_valid():
        return render_cart_page(request, {"voucher": form, "form": form, "has_errors": True}, 422)
    cart_id, typed = form.cleaned_data["cart"], form.cleaned_data.get("code", "")
    try:
        require_access(person_id, cart_id, EDIT)
        found = None if removing else _look_up_code(request, typed)
        if found and found.reason:
            form.add_error("code", found.reason)
            return render_cart_page(
                request, {"voucher": form, "form": form, "has_errors": True}, 422
            )
        operations.set_voucher(person_id, cart_id, found.code if found else None, current_time())
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error)
    except CartError as error:
        return render_refusal(request, str(error))
    return render_changed_cart(
        request,
        _("Code %(code)s added to your cart.") % {"code": found.code}
        if found
        else _("Code removed."),
        with_sum=False,  # the subtotal is before the code's discount
    )


def _look_up_code(request: HttpRequest, typed: str) -> Voucher | None:
    """Return the voucher of a typed code, or None. The cart's lines are not checked. Raises TooManyAttempts, CassandraUnavailable."""
    person_id = owner.get_owner_id(request)
    # The network has a limit, too, because accounts are easily made.
    attempt = hit_rate_limit(request, "voucher", str(person_id))
    customer_keys = get_voucher_customer_keys(request, person_id) if person_id else ()
    found = promotions.get_applied_promotions(typed, (), current_time(), customer_keys).voucher
    if found and not found.reason:
        attempt.release_slots()
    return found
