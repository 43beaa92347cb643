"""The code in a cart: put in behind a quiet link, taken out again."""

from datetime import UTC, datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse

from cart import operations, owner
from cart.access import EDIT, access
from cart.errors import CartError, NoSuchCart
from cart.forms import VoucherForm
from cart.pages import cart_changed, cart_page, press_refused, voucher_customer
from promotions import queries as promotions
from promotions.entities import Voucher
from web.errors import TooManyAttempts
from web.limits import attempted
from web.methods import own, post_only
from web.rendering import too_many


@post_only("cart:show")
@own
def voucher(request: HttpRequest) -> HttpResponse:
    """Put a code into a cart, or take it out."""
    form, person_id = VoucherForm(request.POST), owner.owner_of(request)
    removing = "remove" in request.POST
    if "cart" in form.errors or person_id is None:
        return press_refused(request, str(NoSuchCart()))
    if not removing and not form.is_valid():
        return cart_page(request, {"voucher": form, "form": form, "has_errors": True}, 422)
    cart_id, typed = form.cleaned_data["cart"], form.cleaned_data.get("code", "")
    try:
        access(person_id, cart_id, EDIT)
        found = None if removing else _looked_up(request, typed)
        if found and found.reason:
            form.add_error("code", found.reason)
            return cart_page(request, {"voucher": form, "form": form, "has_errors": True}, 422)
        operations.voucher_set(person_id, cart_id, found.code if found else None, datetime.now(UTC))
    except TooManyAttempts as error:
        return too_many(request, error)
    except CartError as error:
        return press_refused(request, str(error))
    messages.success(
        request, f"The code {found.code} is in your cart." if found else "The code was taken out."
    )
    return cart_changed(request)


def _looked_up(request: HttpRequest, typed: str) -> Voucher | None:
    """Return what there is to say of a code, whatever is in the cart. Raises TooManyPaymentAttempts, CassandraUnavailable."""
    person_id = owner.owner_of(request)
    member = request.user.is_authenticated
    # Who is signed in is counted alone: strangers who guess codes keep nobody else from theirs.
    attempt = attempted(
        request, "voucher", str(person_id), own=f"voucher {person_id}" if member else ""
    )
    person = voucher_customer(request, person_id) if person_id else ""
    found = promotions.get_applied_promotions(typed, (), datetime.now(UTC), person).voucher
    if found and not found.reason:
        attempt.forgotten()
    return found
