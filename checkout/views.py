"""From the cart to an order that waits for its payment, in three steps: the details, delivery and payment, a last look.

Each step is a form that is sent and leads to the next one's address; only the last one orders. What was typed is kept in
the browser (checkout.typed), and the last step sends all of it: what was looked over is what is ordered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from accounts import queries as accounts
from accounts.access import member
from accounts.models import User
from cart import owner
from cart import queries as carts
from cart.access import BUY
from cart.access import access as cart_access
from cart.destination import destination
from cart.entities import Cart
from cart.errors import CartChanged, CartError
from cart.operations import prices_agreed
from checkout import offers
from checkout.checkouts import Checkout, checkout_of
from checkout.forms import BillingForm, CheckoutForm, fingerprint
from checkout.typed import NAMES, keep, typed_before, typed_now
from inventory.errors import OutOfStock
from orders import operations, queries
from orders.entities import Order
from orders.errors import CartOrdered, CheckoutBusy, CheckoutGivenUp, CheckoutUsed
from orders.operations import Draft
from orders.persons import user_of_code
from orders.views.payment import remember_guests, to_payment
from payments import gateways
from payments.errors import GatewayAway
from pricing import delivery, quotes
from pricing.templatetags.money import format_money as in_words
from promotions.errors import VoucherRefused
from web.methods import get_or_post, own
from web.rendering import page

DETAILS, WAYS, REVIEW = "details", "ways", "review"
STEPS = {DETAILS: "Your details", WAYS: "Delivery and payment", REVIEW: "Look it over and order"}
# The buttons that do not order.
OTHER_PRESSES = ("step", "to", "update")


@dataclass(frozen=True)
class Visit:
    """One request for the checkout: whose cart it is about, that cart's checkout, and what has been typed so far."""

    request: HttpRequest
    owner_id: UUID
    cart: Cart
    checkout: Checkout
    typed: Mapping[str, str]

    @cached_property
    def form(self) -> CheckoutForm:
        return CheckoutForm(self.typed)

    @cached_property
    def billing(self) -> BillingForm | None:
        """The address on the invoice; None where that is the parcel's."""
        return BillingForm(self.typed) if self.form.bills_elsewhere else None

    @cached_property
    def first_open(self) -> str:
        """The first step at which something is missing or wrong; the last one if nothing is."""
        if self.form.details_wrong:
            return DETAILS
        wrong = self.form.ways_wrong or (self.billing is not None and not self.billing.is_valid())
        return WAYS if wrong else REVIEW

    def offered(self, short: Mapping[UUID, int] | None = None, refused: str = "") -> offers.Offer:
        """Return what can be ordered of the cart now, with what its code takes off for this person."""
        visitor, email = _member(self.request), ""
        if "email" not in self.form.errors:
            email = self.form.cleaned_data["email"]
        # Who it is matters to a code alone.
        person = user_of_code(visitor.user_id if visitor else None, email) if self.cart.voucher else ""
        return offers.offered(self.cart, short, person=person, refused=refused)

    def sums(self, offer: offers.Offer) -> quotes.Sums:
        return offer.sums(self.form.method, self.form.destination)

    def shown(self, offer: offers.Offer, step: str) -> offers.Shown:
        """Return what a page with this offer shows; that of the last step binds all that was typed as well."""
        shown = offer.shown(self.sums(offer), self.owner_id, self.checkout.checkout_id)
        if step != REVIEW:
            return shown
        return replace(shown, reviewed=fingerprint(self.form, self.billing, shown.content))

    def page(
        self,
        step: str,
        offer: offers.Offer,
        *,
        before: offers.Shown | None = None,
        told: Sequence[str] = (),
        errors: bool = False,
        part: str = "",
        status: int = 200,
    ) -> HttpResponse:
        """Show a step of the checkout at today's prices, and say what of it is not as `before` showed it."""
        if not offer.lines:
            return page(self.request, "orders/nothing.html", {"reasons": list(offer.reasons.values())}, status=409)
        shown = self.shown(offer, step)
        changes = [*told, *self._changes(before, offer, shown, counted=status == 409)]
        context = self._context(step, offer) | self._forms(step, errors=errors)
        context |= {"changes": changes, "checkout": shown.token()}
        return page(self.request, "orders/checkout.html", context, part=part, status=status)

    def _changes(
        self, before: offers.Shown | None, offer: offers.Offer, shown: offers.Shown, *, counted: bool
    ) -> Sequence[str]:
        """Say what is not as it was shown; on a page that was `counted` on, that is its sums and all that was typed, too."""
        if before is None:
            return []
        of_the_checkout = before.order_id != self.cart.cart_id
        found = offers.changes(before, offer, self.sums(offer) if counted and of_the_checkout else None)
        if counted and not found and before != shown:
            return ["Please look it over once more: this is what you would order now."]
        return found

    def _context(self, step: str, offer: offers.Offer) -> dict[str, Any]:
        form, sums, now = self.form, self.sums(offer), datetime.now(UTC)
        visitor = _member(self.request)
        return {
            "step": step,
            "lines": [(line, offer.waits.get(line.variant_id)) for line in offer.lines],
            "sums": sums,
            "applied": offer.applied,
            "ways": [
                (way, offer.applied.delivery(offer.lines, way), *way.arrives(now))
                for way in delivery.methods(form.destination)
            ],
            "method": form.method,
            "arrives": form.method.arrives(now),
            "pays": form.way_to_pay,
            "by_card": form.way_to_pay is None or form.way_to_pay.code == gateways.CARD,
            "addresses": accounts.addresses_of(visitor) if visitor else [],
            "typed": {name: self.typed.get(name, "") for name in NAMES} if step == REVIEW else {},
            "to": self.form.address() if not self.form.details_wrong else None,
            "bill": self.billing.address() if self.billing and self.billing.is_valid() else None,
        }

    def _forms(self, step: str, *, errors: bool) -> dict[str, Any]:
        """Return the forms as a step draws them: nobody complains about what was not sent yet."""
        form, billing = self.form, self.billing
        if errors:
            form.asked_only(ways=step == WAYS)
        elif step != REVIEW:
            form = CheckoutForm(initial=self.typed)
        if billing is None or not errors:
            # With a country from the first, as its field shows one: it is drawn anew for another one alone.
            typed = {name: self.typed.get(f"billing-{name}", "") for name in BillingForm.base_fields}
            billing = BillingForm(initial=typed | {"country": typed["country"] or form.destination})
        posted = self.request.POST
        return {
            "form": form,
            "billing": billing,
            "has_errors": errors,
            # The address's fields are drawn anew for another country only: nobody types in them then.
            "redrawn": posted.get("address-fields-for") != form["country"].value(),
            "billing_redrawn": posted.get("billing-fields-for") != (billing["country"].value() or ""),
        }

    def draft(self, shown: offers.Shown, offer: offers.Offer) -> Draft:
        """Return what the valid forms make an order of."""
        address, visitor = self.form.address(), _member(self.request)
        voucher = offer.applied.voucher
        return Draft(
            order_id=shown.order_id,
            owner_id=shown.owner_id,
            user_id=visitor.user_id if visitor else None,
            email=self.form.cleaned_data["email"],
            delivery_address=address,
            billing_address=self.billing.address() if self.billing else address,
            method=self.form.method,
            lines=offer.lines,
            cart_id=self.cart.cart_id,
            fingerprint=shown.reviewed,
            payment_method=self.form.cleaned_data["payment"],
            voucher=voucher.code if voucher and not voucher.reason else "",
            promotions=offer.applied.promotions,
            cart=self.cart,
            checkout_number=self.checkout.number,
            stock=offer.stock,
        )


@get_or_post
@never_cache
@own
def checkout(request: HttpRequest) -> HttpResponse:
    """The steps from the cart to an order; the last one's POST places it and leads to the payment."""
    owner_id, now = owner.checked_owner_of(request), datetime.now(UTC)
    cart = carts.cart_of(owner_id) if owner_id else None
    seen = offers.shown_in(request.POST.get("checkout", ""), owner_id)
    placing = request.method == "POST" and not any(each in request.POST for each in OTHER_PRESSES)
    placed = queries.order(seen.order_id) if placing and seen else None
    if seen and placed and not placed.is_over(now):
        return _again(request, seen, placed)
    ended = placed if placed and placed.owner_id == owner_id else None
    if cart is None or owner_id is None or not cart.lines:
        return redirect("cart:show")
    try:
        cart_access(owner_id, cart.cart_id, BUY)
    except CartError as error:
        messages.warning(request, str(error))
        return redirect("cart:show")
    found = checkout_of(cart, now)
    if found.order:
        return _ordered(request, owner_id, found.order)
    if placing:
        typed = {name: request.POST.get(name, "") for name in NAMES}
        return _place(Visit(request, owner_id, cart, found, typed), seen, ended)
    before = _preset(request) | typed_before(request, owner_id)
    if request.method == "POST":
        return _step_sent(Visit(request, owner_id, cart, found, typed_now(request.POST, before)), seen)
    return _look(Visit(request, owner_id, cart, found, before | _chosen_address(request)))


def _look(visit: Visit) -> HttpResponse:
    """Show the step that the address names, or the first that is open; none before it can be passed over."""
    offer = visit.offered()
    if offer.rises:
        return _to_agree(visit.request)
    wanted, steps = visit.request.GET.get("step", ""), list(STEPS)
    step = DETAILS if "address" in visit.request.GET else visit.first_open
    if wanted in STEPS and steps.index(wanted) > steps.index(visit.first_open):
        return redirect(_address_of(visit.first_open))
    if not visit.request.GET and step == DETAILS:
        # An address of its own, so that Back leads here from the second step; without one it would show that again.
        return redirect(_address_of(DETAILS))
    step = wanted if wanted in STEPS else step
    return visit.page(step, offer, before=offers.in_cart(visit.cart, visit.owner_id))


def _step_sent(visit: Visit, seen: offers.Shown | None) -> HttpResponse:
    """Keep what was typed, and go on: to the next step, to one that is to be changed, or on with this one."""
    if visit.checkout.left:
        # What it holds is nobody else's, and is not to be missing here.
        operations.checkout_left(visit.checkout.left)
    request, offer = visit.request, visit.offered()
    if offer.rises_unknown_to(seen):
        return _to_agree(request)
    sent = request.POST.get("step", request.POST.get("on", DETAILS))
    step = sent if sent in (DETAILS, WAYS) else DETAILS
    if "update" in request.POST and offer.lines and getattr(request, "htmx", None):
        if seen is None or visit.shown(offer, step).total != seen.total:
            messages.info(request, f"The total is {in_words(visit.sums(offer).total)} now.")
        response = visit.page(step, offer, part="changed")
    elif "update" in request.POST or "to" in request.POST:
        response = redirect(_address_of(request.POST.get("to", step)))
    else:
        billed = visit.billing is None or visit.billing.is_valid()
        wrong = visit.form.details_wrong if step == DETAILS else visit.form.ways_wrong or not billed
        if wrong:
            return visit.page(step, offer, before=seen, errors=True, status=422)
        response = redirect(_address_of(WAYS if step == DETAILS else REVIEW))
    if not keep(response, visit.owner_id, visit.typed):
        visit.form.add_error("name", "That is more than we can keep: please shorten the name and the address")
        return visit.page(DETAILS, offer, errors=True, status=422)
    return response


def _address_of(step: str) -> str:
    return f"{reverse('checkout:details')}?step={step if step in STEPS else DETAILS}"


def _to_agree(request: HttpRequest) -> HttpResponse:
    """A price has risen, and nobody has agreed to it: that is done in the cart, before anything personal is asked."""
    messages.warning(request, "A price has risen since you chose. Look at it here before you go to the checkout.")
    return redirect("cart:show")


def _preset(request: HttpRequest) -> dict[str, str]:
    """What we know of the visitor already, so that it is not asked for again."""
    preset, visitor = {"country": destination(request), "same_billing": "on"}, _member(request)
    if visitor is None:
        return preset
    known = accounts.addresses_of(visitor)
    return preset | {"email": visitor.email, "name": visitor.name} | (_fields(known[0]) if known else {})


def _chosen_address(request: HttpRequest) -> dict[str, str]:
    """The address of the member's book that the page's own address names."""
    visitor = _member(request) if "address" in request.GET else None
    known = accounts.addresses_of(visitor) if visitor else []
    return next((_fields(each) for each in known if each.key == request.GET["address"]), {})


def _fields(address: Any) -> dict[str, str]:
    return {name: value for name, value in address.fields().items() if name in NAMES}


def _place(visit: Visit, seen: offers.Shown | None, ended: Order | None) -> HttpResponse:
    """Order what was looked over, if it is still that; else say what has changed."""
    told = [f"Order {ended.number} ended without a payment. Nothing was charged: you can order anew."] if ended else []
    offer = visit.offered()
    # Whoever comes without a page of ours has been told of no rise: it is told beside the cart's own prices.
    before = seen or (offers.in_cart(visit.cart, visit.owner_id) if offer.rises else None)
    if visit.first_open != REVIEW:
        return visit.page(visit.first_open, offer, before=before, errors=True, status=422)
    if not offer.lines or seen is None or visit.shown(offer, REVIEW) != seen:
        told = told or ([] if before else ["Please look it over: this is what you would order."])
        return visit.page(REVIEW, offer, before=before, told=told, status=409)
    try:
        order = _placed(visit, seen, offer)
    except CartChanged as changed:
        now = carts.cart(visit.cart.cart_id, visit.cart.name)
        visit = replace(visit, cart=now, checkout=checkout_of(now, datetime.now(UTC)))
        return visit.page(REVIEW, visit.offered(), before=seen, told=[str(changed)], status=409)
    except OutOfStock as short:
        return visit.page(REVIEW, visit.offered(short.shortages), before=seen, status=409)
    except VoucherRefused as refused:
        return visit.page(REVIEW, visit.offered(refused=str(refused)), before=seen, status=409)
    except (CheckoutUsed, CartOrdered) as used:
        return _ordered(visit.request, visit.owner_id, used.order)
    except (CartError, CheckoutBusy, CheckoutGivenUp, GatewayAway) as refused:
        return visit.page(REVIEW, visit.offered(), told=[str(refused)], status=409)
    return to_payment(visit.request, order)


def _placed(visit: Visit, seen: offers.Shown, offer: offers.Offer) -> Order:
    now = datetime.now(UTC)
    gateways.taker(visit.form.cleaned_data["payment"])  # nothing is ordered that cannot be paid
    if visit.checkout.overdue:
        operations.order_expired(visit.checkout.overdue, now)
    if offer.rises:  # the button that was pressed said the new sum, and its page what had risen
        prices_agreed(visit.owner_id, visit.cart.cart_id, offer.rises, now)
        visit = replace(visit, cart=carts.cart(visit.cart.cart_id, visit.cart.name))
        offer = visit.offered()
        if not offer.lines or visit.shown(offer, REVIEW) != seen:
            raise CartChanged
    return operations.order_placed(visit.draft(seen, offer), now)


def _again(request: HttpRequest, seen: offers.Shown, placed: Order) -> HttpResponse:
    """A checkout that is an order already was sent again: the same goes on where it was, another is refused."""
    if placed.owner_id != seen.owner_id:
        return _anothers(request, placed)
    form = CheckoutForm(request.POST)
    billing = BillingForm(request.POST) if form.bills_elsewhere else None
    complete = form.is_valid() and (billing is None or billing.is_valid())
    if complete and fingerprint(form, billing, seen.content) == placed.fingerprint:
        return to_payment(request, placed)
    response = page(request, "orders/used.html", {"order": placed}, status=409)
    remember_guests(request, response, placed)
    return response


def _ordered(request: HttpRequest, owner_id: UUID, order: Order) -> HttpResponse:
    """The cart has become an order already, in another tab or before Back, or by somebody who shares it."""
    if order.owner_id != owner_id:
        return _anothers(request, order)
    messages.info(request, "You have ordered this already. Pay the order, or give it up to order anew.")
    response = redirect("orders:detail", order.number)
    remember_guests(request, response, order)
    return response


def _anothers(request: HttpRequest, order: Order) -> HttpResponse:
    """Of what somebody else has ordered only that is told which concerns the cart that they share."""
    until = order.pay_until if order.waits_for_payment else None
    return page(request, "orders/used.html", {"until": until}, status=409)


def _member(request: HttpRequest) -> User | None:
    return member(request) if request.user.is_authenticated else None
