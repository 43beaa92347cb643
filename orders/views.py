"""Checkout, payment, and an order's own page."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.formats import date_format
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from accounts import queries as accounts
from accounts.access import member, personal
from accounts.models import User
from cart import owner
from cart import queries as carts
from cart.queries import Cart
from catalogue.templatetags.money import money as in_words
from inventory.errors import OutOfStock
from orders import access, delivery, gateways, links, offers, operations, queries
from orders.errors import CheckoutBusy, CheckoutGivenUp, CheckoutUsed, GatewayAway, NoGateway, NotPayable, OrderError
from orders.forms import BillingForm, CheckoutForm, LookupForm, fingerprint
from orders.operations import Draft
from orders.queries import Order
from web.methods import get_or_post
from web.rendering import page, without_header

log = logging.getLogger(__name__)


# ---- Checkout


@dataclass(frozen=True)
class Visit:
    """One request for the checkout: whose cart it is about, and what has been typed."""

    request: HttpRequest
    owner_id: UUID
    cart: Cart
    form: CheckoutForm
    billing: BillingForm

    def page(
        self,
        offer: offers.Offer,
        *,
        order_id: UUID | None = None,
        before: offers.Shown | None = None,
        told: Sequence[str] = (),
        status: int = 200,
    ) -> HttpResponse:
        """Show the checkout at today's prices, and say what of it is not as `before` showed it."""
        if not offer.lines:
            return page(self.request, "orders/nothing.html", {"reasons": list(offer.reasons.values())}, status=409)
        form, now = self.form, datetime.now(UTC)
        sums = offer.sums(form.method, form.destination)
        changes = [*told, *(offers.changes(before, offer, sums if status == 409 else None) if before else ())]
        if status == 409 and not changes:
            changes = ["This page was open for a long time. Please look it over once more."]
        visitor = _member(self.request)
        context = {
            "form": form,
            "billing": self.billing,
            "has_errors": bool(form.errors or self.billing.errors),
            "lines": offer.lines,
            "sums": sums,
            "changes": changes,
            "checkout": offer.shown(sums, self.owner_id, order_id).token(),
            "ways": [
                (way, way.price_for(sums.subtotal), *way.arrives(now)) for way in delivery.methods(form.destination)
            ],
            "method": form.method,
            "addresses": accounts.addresses_of(visitor) if visitor else [],
        }
        return page(self.request, "orders/checkout.html", context, part="changed", status=status)

    def draft(self, seen: offers.Shown, offer: offers.Offer) -> Draft:
        """Return what the valid form makes an order of."""
        address, visitor = self.form.address(), _member(self.request)
        return Draft(
            order_id=seen.order_id,
            owner_id=seen.owner_id,
            user_id=visitor.user_id if visitor else None,
            email=self.form.cleaned_data["email"],
            delivery_address=address,
            billing_address=self.billing.address() if self.form.bills_elsewhere else address,
            method=self.form.method,
            lines=offer.lines,
            cart_id=self.cart.cart_id,
            fingerprint=self.fingerprint(seen),
        )

    def fingerprint(self, seen: offers.Shown) -> str:
        """Return what tells this submit's content from another's."""
        return fingerprint(self.form, self.billing if self.form.bills_elsewhere else None, seen.content)


@get_or_post
@never_cache
def checkout(request: HttpRequest) -> HttpResponse:
    """Everything an order needs, on one page; a POST places it and leads to the payment."""
    owner_id = owner.checked_owner_of(request)
    cart = carts.cart_of(owner_id) if owner_id else None
    seen = offers.shown_in(request.POST.get("checkout", ""), owner_id)
    placing = request.method == "POST" and "update" not in request.POST
    if placing and seen and (placed := queries.order(seen.order_id)):
        return _again(request, seen, placed)
    if cart is None or owner_id is None or not cart.lines:
        return redirect("cart:show")
    if (request.method != "POST" or placing) and (waiting := _waiting(request, cart)):
        messages.info(request, "You have ordered this already. Pay the order, or give it up to order anew.")
        return redirect("orders:detail", waiting.number)
    if placing:
        form = CheckoutForm(request.POST)
        billing = BillingForm(request.POST if form.bills_elsewhere else None)
        return _place(Visit(request, owner_id, cart, form, billing), seen)
    if request.method == "POST":
        return _update(Visit(request, owner_id, cart, *_typed(request)), seen)
    visit = Visit(request, owner_id, cart, CheckoutForm(initial=_preset(request)), BillingForm())
    return visit.page(offers.offered(cart), before=offers.in_cart(cart, owner_id))


def _waiting(request: HttpRequest, cart: Cart) -> Order | None:
    """The order that this cart has become already, in another tab or before Back, if it can still be paid."""
    now, visitor = datetime.now(UTC), _member(request)
    if visitor:
        listed = queries.orders_of(visitor.user_id, [now.year]).get(now.year, [])
        last = listed[0].order_id if listed else None
    else:
        last = next(iter(access.remembered(request)), None)
    order = queries.order(last) if last else None
    if order and order.cart_id == cart.cart_id and order.waits_for_payment and order.pay_until > now:
        return order
    return None


def _preset(request: HttpRequest) -> dict[str, Any]:
    """What we know of the visitor already, so that it is not asked for again."""
    preset: dict[str, Any] = {"country": delivery.DEFAULT_COUNTRY, "delivery": "standard", "same_billing": True}
    visitor = _member(request)
    if visitor is None:
        return preset
    preset |= {"email": visitor.email, "name": visitor.name}
    known = accounts.addresses_of(visitor)
    chosen = next((each for each in known if each.key == request.GET.get("address")), known[0] if known else None)
    return preset | (chosen.fields() if chosen else {})


def _typed(request: HttpRequest) -> tuple[CheckoutForm, BillingForm]:
    """The forms with what was typed so far, which nobody has complained about yet."""
    typed = request.POST
    return (
        CheckoutForm(initial={name: typed.get(name, "") for name in CheckoutForm.base_fields}),
        BillingForm(initial={name: typed.get(f"billing-{name}", "") for name in BillingForm.base_fields}),
    )


def _update(visit: Visit, seen: offers.Shown | None) -> HttpResponse:
    """Show the page for another country or another delivery."""
    offer, form = offers.offered(visit.cart), visit.form
    if offer.lines:
        total = in_words(offer.sums(form.method, form.destination).total)
        messages.info(visit.request, f"With {form.method.name.lower()} delivery the total is {total}.")
    return visit.page(offer, order_id=seen.order_id if seen else None)


def _again(request: HttpRequest, seen: offers.Shown, placed: Order) -> HttpResponse:
    """A checkout that is an order already was sent again: the same goes on where it was, another is refused."""
    form = CheckoutForm(request.POST)
    billing = BillingForm(request.POST) if form.bills_elsewhere else None
    complete = form.is_valid() and (billing is None or billing.is_valid())
    if complete and fingerprint(form, billing, seen.content) == placed.fingerprint:
        return _to_payment(request, placed)
    return _used(request, placed)


def _place(visit: Visit, seen: offers.Shown | None) -> HttpResponse:
    form, billing = visit.form, visit.billing
    order_id = seen.order_id if seen else None
    offer = offers.offered(visit.cart)
    if not (form.is_valid() & (not billing.is_bound or billing.is_valid())):
        return visit.page(offer, order_id=order_id, status=422)
    sums = offer.sums(form.method, form.destination) if offer.lines else None
    if seen is None or sums is None or offer.shown(sums, visit.owner_id, seen.order_id) != seen:
        return visit.page(offer, order_id=order_id, before=seen, status=409)
    try:
        gateways.gateway(settings.PAYMENT_GATEWAY)  # nothing is ordered that cannot be paid
        order = operations.order_placed(visit.draft(seen, offer), datetime.now(UTC))
    except NoGateway as nobody:
        return visit.page(offer, order_id=order_id, told=[str(nobody)], status=409)
    except OutOfStock as short:
        return visit.page(offers.offered(visit.cart, short.shortages), order_id=order_id, before=seen, status=409)
    except CheckoutUsed as used:
        return _used(visit.request, used.order)
    except CheckoutBusy as busy:
        return visit.page(offer, order_id=order_id, told=[str(busy)], status=409)
    except CheckoutGivenUp as over:
        return visit.page(offer, told=[str(over)], status=409)
    return _to_payment(visit.request, order)


def _member(request: HttpRequest) -> User | None:
    return member(request) if request.user.is_authenticated else None


def _used(request: HttpRequest, order: Order) -> HttpResponse:
    response = page(request, "orders/used.html", {"order": order}, status=409)
    _remember_guests(request, response, order)
    return response


def _remember_guests(request: HttpRequest, response: HttpResponse, order: Order) -> None:
    """Let this browser open a guest's order; a member's opens by their session, and not any more after they left."""
    if order.user_id is None:
        access.remember(request, response, order.order_id)


# ---- Payment


def _to_payment(request: HttpRequest, order: Order) -> HttpResponse:
    """Send the shopper to the gateway, or to the order's page when there is nothing to pay (any more)."""
    try:
        url = operations.payment_started(order, _origin(request), datetime.now(UTC)).url
    except NotPayable:
        response = redirect("orders:detail", order.number)
    except OrderError as refused:
        messages.error(request, str(refused))
        response = redirect("orders:detail", order.number)
    else:
        response = redirect(url)
    _remember_guests(request, response, order)
    return response


def _origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"


@get_or_post
@never_cache
def pay(request: HttpRequest, number: str) -> HttpResponse:
    """Try once more to pay an order."""
    if request.method != "POST":
        return redirect("orders:detail", number)
    order = access.own_order(request, number)
    if order.waits_for_payment and order.pay_until < datetime.now(UTC):
        messages.warning(request, "The time to pay this order is over. Nothing was charged.")
        return redirect("orders:detail", order.number)
    return _to_payment(request, order)


@get_or_post
@never_cache
def give_up(request: HttpRequest, number: str) -> HttpResponse:
    """The shopper does not want to pay: the order's things are free again, and still in the cart."""
    if request.method != "POST":
        return redirect("orders:detail", number)
    order = _asked(access.own_order(request, number))
    try:
        if not order.waits_for_payment:
            raise NotPayable
        operations.order_moved(order, "cancelled", actor="shopper", now=datetime.now(UTC))
    except OrderError as refused:
        messages.error(request, str(refused))
        return redirect("orders:detail", number)
    messages.info(request, f"Order {order.number} is given up.")
    return redirect("cart:show")


def _asked(order: Order) -> Order:
    """Ask the bank about a payment that is under way, and return the order as it is then."""
    under_way = next((each for each in queries.attempts(order.order_id) if each.state == "started"), None)
    if under_way is None or not order.waits_for_payment:
        return order
    return _settled(order, under_way.payment_id)


def _settled(order: Order, payment_id: UUID) -> Order:
    try:
        return operations.payment_settled(order.order_id, payment_id, datetime.now(UTC)) or order
    except GatewayAway:
        # The worker asks again; until then the order's page tells what is known.
        log.warning("order %s: the gateway does not answer", order.number)
        return order


@require_safe
@never_cache
def payment_return(request: HttpRequest, number: str, payment_id: UUID) -> HttpResponse:
    """The shopper comes back from the gateway: ask it how the payment has ended, whatever the address says."""
    order = access.own_order(request, number)
    _settled(order, payment_id)
    return redirect("orders:detail", order.number)


@csrf_exempt
@require_POST
@without_header
def payment_notice(request: HttpRequest, gateway: str) -> HttpResponse:
    """A gateway tells that a payment has moved on: believe its signature, and ask it for the rest."""
    if gateway != settings.PAYMENT_GATEWAY:
        raise Http404
    try:
        found = gateways.gateway(gateway).notified(request.body, request.headers.get("X-Signature", ""))
    except NoGateway as nobody:
        raise Http404("no such gateway here") from nobody
    except (PermissionError, ValueError, KeyError) as refused:
        log.warning("a payment notice was refused: %s", refused)
        return HttpResponse(status=403)
    if order := queries.order_by_number(found.number):
        try:
            operations.payment_settled(order.order_id, found.payment_id, datetime.now(UTC))
        except GatewayAway:
            return HttpResponse(status=503)  # so that the notice is sent again
    return HttpResponse(status=204)


# ---- An order


@require_safe
@never_cache
def detail(request: HttpRequest, number: str) -> HttpResponse:
    """An order: what it is at, what is in it, where it goes."""
    # While the bank thinks, looking at the page asks it; the worker would find the same out a little later.
    order = _asked(access.own_order(request, number))
    attempts = queries.attempts(order.order_id)
    context = {
        "order": order,
        "items": queries.items(order),
        "attempt": attempts[-1] if attempts else None,
        "now": datetime.now(UTC),
        "arrives": _in_words(*order.method.arrives(order.placed_at)),
        "is_new": _is_new(order),
        "is_guest": order.user_id is None,
        "polls": order.state in ("pending_payment", "confirmed", "on_hold"),
    }
    return page(request, "orders/detail.html", context, part="status")


def _in_words(first: date, last: date) -> str:
    """When a parcel can be expected, as it stands in a sentence."""
    days = [date_format(day, "l j F") for day in (first, last)]
    return f"on {days[0]}" if first == last else f"between {days[0]} and {days[1]}"


def _is_new(order: Order) -> bool:
    """Whether its buyer has just come back from the bank: then the page says thanks and what happens next."""
    paid = next((event for event in order.events if event.kind in ("paid", "paid_late")), None)
    return paid is not None and order.column == "to_pack" and (datetime.now(UTC) - paid.at).total_seconds() < 3600


@require_safe
@never_cache
def track(request: HttpRequest, token: str) -> HttpResponse:
    """The mailed link: remember the order in this browser and go to its page."""
    order_id = links.order_id_of(token)
    order = queries.order(order_id) if order_id else None
    if order is None:
        raise Http404("no such order")
    response = redirect("orders:detail", order.number)
    access.remember(request, response, order.order_id)
    return response


@get_or_post
@never_cache
def lookup(request: HttpRequest) -> HttpResponse:
    """Find an order by its number and the e-mail address it was placed with."""
    form = LookupForm(request.POST or None)
    if request.method != "POST":
        return page(request, "orders/lookup.html", {"form": form})
    if form.is_valid():
        order = queries.order_by_number(form.cleaned_data["number"])
        if order and accounts.email_key(order.email) == accounts.email_key(form.cleaned_data["email"]):
            response = redirect("orders:detail", order.number)
            access.remember(request, response, order.order_id)
            return response
        # One sentence for both errors: it tells nobody which numbers exist.
        form.add_error(None, "We find no order with this number and this e-mail address. Please check both.")
    return page(request, "orders/lookup.html", {"form": form}, status=422)


@require_safe
@personal
def history(request: HttpRequest) -> HttpResponse:
    """A member's orders, the newest first, by year."""
    visitor = member(request)
    now = datetime.now(UTC)
    since = visitor.created_at.year if visitor.created_at else now.year
    by_year = queries.orders_of(visitor.user_id, range(min(since, now.year - 1), now.year + 1))
    return page(request, "orders/history.html", {"years": by_year})
