"""From the cart to an order that waits for its payment, in three steps: the details, delivery and payment, a last look.

Each step is a form that is sent to its own address and leads to the next one's; only the last one orders. The shop's links
lead to the last one, and from there to the first that is open: so a visit goes on where it was, and Back from a step shows the
one before it. What was typed is kept in the browser (checkout.typed), and the last step sends all of it: what was looked over
is what is ordered.
"""

from datetime import UTC, datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache

from cart import owner
from cart.destination import destination
from cart.errors import CartChanged, CartError
from checkout import offers
from checkout.access import by_its_buyer
from checkout.forms import BillingForm, CheckoutForm, fingerprint
from checkout.known import address_chosen, known_of
from checkout.offers import Offer, Shown
from checkout.pages import (
    ordered_already,
    ordered_otherwise,
    step_context,
    step_page,
    step_template,
)
from checkout.placement import place_order, still_offered, with_cart_of_now
from checkout.steps import (
    DELIVERY,
    DETAILS,
    REVIEW,
    address_of,
    step_after,
    step_named,
    step_of_old_page,
)
from checkout.typed import NAMES, keep, typed_before, typed_now
from checkout.visit import Visit
from inventory.errors import OutOfStock
from orders import operations, queries
from orders.entities import Order
from orders.errors import CartOrdered, CheckoutAbandoned, CheckoutBusy, CheckoutUsed
from orders.payment_redirect import redirect_to_payment
from payments.errors import GatewayUnavailable
from pricing.templatetags.money import format_money as in_words
from promotions.errors import VoucherRefused
from web.methods import get_or_post, own
from web.rendering import done

# The buttons that do not order: back to a step, and the sum for another choice.
OTHER_PRESSES = ("to", "update")


@get_or_post
@never_cache
@own
def details(request: HttpRequest) -> HttpResponse:
    """Ask who orders and where it goes. What a page from before asks or sends here for a later step is led on, with all in it."""
    if (step := step_of_old_page(request.GET, request.POST)) != DETAILS:
        return HttpResponseRedirect(address_of(step), preserve_request=request.method == "POST")
    return _sent(request, DETAILS) if request.method == "POST" else _look(request, DETAILS)


@get_or_post
@never_cache
@own
def delivery(request: HttpRequest) -> HttpResponse:
    """Ask how it is delivered and paid, and where the invoice goes."""
    return _sent(request, DELIVERY) if request.method == "POST" else _look(request, DELIVERY)


@get_or_post
@never_cache
@own
def review(request: HttpRequest) -> HttpResponse:
    """Show all that would be ordered. The button on it orders that, once, however often it is pressed."""
    if request.method != "POST":
        return _look(request, REVIEW)
    if any(each in request.POST for each in OTHER_PRESSES):
        return _sent(request, REVIEW)
    owner_id, now = owner.checked_owner_of(request), datetime.now(UTC)
    seen = offers.shown_in(request.POST.get("checkout", ""), owner_id)
    placed = queries.get_order(seen.order_id) if seen else None
    if seen and placed and not placed.is_over(now):
        return _again(request, seen, placed)
    return _place(request, seen, placed if placed and placed.owner_id == owner_id else None)


@by_its_buyer
def _look(request: HttpRequest, visit: Visit, step: str) -> HttpResponse:
    """Show a step, or lead to the first that is open: none before it can be passed over."""
    typed = known_of(visit.visitor, destination(request)) | typed_before(request, visit.owner_id)
    if step == DETAILS:
        typed |= address_chosen(visit.visitor, request.GET.get("address", ""))
    visit = visit.with_typed(typed)
    offer = visit.offered()
    if offer.rises:
        return _to_agree(request)
    if visit.skips(step):
        return redirect(address_of(visit.first_open))
    return step_page(request, visit, step, offer, before=offers.in_cart(visit.cart, visit.owner_id))


@by_its_buyer
def _sent(request: HttpRequest, visit: Visit, step: str) -> HttpResponse:
    """Keep what was typed, and go on: to the next step, to one that is to be changed, or on with this one."""
    if visit.checkout.left:
        # What it holds is nobody else's, and is not to be missing here.
        operations.abandon_checkout(visit.checkout.left)
    before = known_of(visit.visitor, destination(request)) | typed_before(request, visit.owner_id)
    visit = visit.with_typed(typed_now(request.POST, before, step))
    seen, offer = offers.shown_in(request.POST.get("checkout", ""), visit.owner_id), visit.offered()
    if offer.rises_unknown_to(seen):
        return _to_agree(request)
    if "update" in request.POST:
        response = _updated(request, visit, step, seen, offer)
    elif "to" in request.POST:
        response = redirect(address_of(step_named(request.POST["to"])))
    elif visit.is_wrong(step):
        return step_page(request, visit, step, offer, before=seen, errors=True, status=422)
    else:
        response = redirect(address_of(step_after(step)))
    if not keep(response, visit.owner_id, visit.typed):
        visit.form.add_error(
            "name", "That is more than we can keep: please shorten the name and the address"
        )
        return step_page(request, visit, DETAILS, offer, errors=True, status=422)
    return response


def _updated(
    request: HttpRequest, visit: Visit, step: str, seen: Shown | None, offer: Offer
) -> HttpResponse:
    """Show the sums for what is chosen now."""
    if not offer.lines or step == REVIEW:  # where nothing is chosen
        return redirect(address_of(step))

    def context() -> dict[str, Any]:
        shown = visit.shown(offer, step)
        if seen is None or shown.total != seen.total:
            messages.info(request, f"The total is {in_words(visit.sums(offer).total)} now.")
        return step_context(request, visit, step, offer, shown)

    return done(request, address_of(step), step_template(step), context, part="changed")


def _to_agree(request: HttpRequest) -> HttpResponse:
    """A price has risen, and nobody has agreed to it: that is done in the cart, before anything personal is asked."""
    messages.warning(
        request, "A price has risen since you chose. Look at it here before you go to the checkout."
    )
    return redirect("cart:show")


@by_its_buyer
def _place(
    request: HttpRequest, visit: Visit, seen: Shown | None, ended: Order | None
) -> HttpResponse:
    """Order what was looked over, if it is still that; else say what has changed."""
    visit = visit.with_typed({name: request.POST.get(name, "") for name in NAMES})
    told = (
        [f"Order {ended.number} ended without a payment. Nothing was charged: you can order anew."]
        if ended
        else []
    )
    offer, now = visit.offered(), datetime.now(UTC)
    # Whoever comes without a page of ours has been told of no rise: it is told beside the cart's own prices.
    before = seen or (offers.in_cart(visit.cart, visit.owner_id) if offer.rises else None)
    if visit.first_open != REVIEW:
        return step_page(
            request, visit, visit.first_open, offer, before=before, errors=True, status=422
        )
    if seen is None or not still_offered(visit, seen, offer):
        told = told or ([] if before else ["Please look it over: this is what you would order."])
        return step_page(request, visit, REVIEW, offer, before=before, told=told, status=409)
    try:
        order = place_order(visit, seen, offer, now)
    except CartChanged as changed:
        visit = with_cart_of_now(visit, datetime.now(UTC))
        return step_page(
            request, visit, REVIEW, visit.offered(), before=seen, told=[str(changed)], status=409
        )
    except OutOfStock as short:
        return step_page(
            request, visit, REVIEW, visit.offered(short.shortages), before=seen, status=409
        )
    except VoucherRefused as refused:
        return step_page(
            request, visit, REVIEW, visit.offered(refused=str(refused)), before=seen, status=409
        )
    except (CheckoutUsed, CartOrdered) as used:
        return ordered_already(request, visit.owner_id, used.order)
    except (CartError, CheckoutBusy, CheckoutAbandoned, GatewayUnavailable) as refused:
        return step_page(request, visit, REVIEW, visit.offered(), told=[str(refused)], status=409)
    return redirect_to_payment(request, order)


def _again(request: HttpRequest, seen: Shown, placed: Order) -> HttpResponse:
    """A checkout that is an order already was sent again: the same goes on where it was, another is refused."""
    form = CheckoutForm(request.POST)
    billing = BillingForm(request.POST) if form.bills_elsewhere else None
    complete = form.is_valid() and (billing is None or billing.is_valid())
    same = complete and fingerprint(form, billing, seen.content) == placed.fingerprint
    if same and placed.owner_id == seen.owner_id:
        return redirect_to_payment(request, placed)
    return ordered_otherwise(request, seen.owner_id, placed)
