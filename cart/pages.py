"""The page of a cart: what it draws, and how a press is answered by it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from cart import owner, people, queries
from cart.access import VIEW, Access, access
from cart.destination import countries, destination
from cart.entities import Badge, Line
from cart.errors import NoSuchCart
from cart.forms import VoucherForm
from cart.people import People
from cart.request_cart import request_cart
from cart.today import PricedCart, get_active_priced_cart, get_priced_cart
from cart.undo import Removed, removed
from catalogue.queries import prefetch_categories
from pricing import delivery
from pricing.templatetags.money import format_money as in_words
from promotions.operations import voucher_customer_key
from web.rendering import done, page

# How many lines the page draws unless all are asked for.
MOST_DRAWN = 100


@dataclass(frozen=True)
class Opened:
    """A cart that a page is about: as it is today, what is kept for later in it, what one may do in it, and who else is there."""

    shown: PricedCart
    later: tuple[Line, ...]
    access: Access
    people: People


def cart_page(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Show the cart that a press was about, as it is."""
    return page(
        request, "cart/show.html", cart_context(request) | context, part="cart", status=status
    )


def cart_changed(request: HttpRequest) -> HttpResponse:
    """Answer a press that has changed the cart."""
    badge_now(request)
    return done(
        request, cart_address(request), "cart/show.html", lambda: cart_context(request), part="cart"
    )


def press_refused(request: HttpRequest, sentence: str) -> HttpResponse:
    """Show the cart as it is, and why the press has changed nothing."""
    return cart_page(request, {"refused": sentence, "has_errors": True}, 422)


def cart_context(request: HttpRequest, *, undo: Removed | None = None) -> dict[str, Any]:
    """Return what the cart's page shows."""
    prefetch_categories()
    owner_id = owner.owner_of(request)
    opened = _opened(request, owner_id) if owner_id else None
    # The member was read beside the cart. One who may not sign in any more has lost the session by this look.
    if not request.user.is_authenticated and owner.owner_of(request) != owner_id:
        return cart_context(request, undo=undo)
    context: dict[str, Any] = {"undo": undo, "operation": uuid4()}
    if opened is None:
        return context | {"shown": None, "cart": None, "later": (), "access": None}
    found = opened.shown
    context |= {"shown": found, "cart": found.cart, "later": opened.later, "access": opened.access}
    context |= {"voucher": _voucher(found)} | _shared(opened) | _place(request, found)
    return context | _sums(request, found) | _part(request, found)


def _voucher(found: PricedCart) -> VoucherForm:
    """Return the field for a code, with the one that the cart has, and beside it why that takes nothing off."""
    typed = found.cart.voucher
    form = VoucherForm({"cart": str(found.cart.cart_id), "code": typed}) if typed else VoucherForm()
    if found.applied_promotions.refusal_reason:
        form.add_error("code", found.applied_promotions.refusal_reason)
    return form


def _shared(opened: Opened) -> dict[str, Any]:
    """Return who is in the cart, and the version that its page asks about if others may change it meanwhile."""
    there, mine = opened.people, opened.access
    live = there.live or not mine.own
    return {
        "people": there,
        "live": people.version(queries.version_of(opened.shown.cart), mine.role) if live else "",
    }


def _place(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return whether this is the active cart, which alone is ordered, and the address of its page."""
    active = found.cart.cart_id == _active(request)
    return {
        "active": active,
        "here": reverse("cart:show") if active else reverse("cart:one", args=[found.cart.cart_id]),
    }


def _wanted(request: HttpRequest) -> UUID | None:
    """Return the cart that the address or the press names; None for the active one, whichever that is."""
    if request.method != "POST":
        named = request.resolver_match.kwargs.get("cart_id") if request.resolver_match else None
        return named if isinstance(named, UUID) else None
    if undo := removed(request.POST.get("removed", "")):
        return undo.cart_id
    try:
        return UUID(request.POST.get("cart", ""))
    except ValueError:
        return None


def _opened(request: HttpRequest, person_id: UUID) -> Opened | None:
    """Return the cart that a page is about; None if there is none, or it is not shared with this person any more."""
    reading = request_cart(request).reading(person_id)
    wanted, hint = _wanted(request), owner.active_cart_hint(request)
    kept = queries.LATER.start(cart_id=hint) if hint and not wanted else None
    around = people.people_started(hint) if hint and not wanted else None
    person = voucher_customer(request, person_id)
    found = get_active_priced_cart(reading, hint, person) if not wanted else None
    rows = reading.result()[0]
    row = next((row for row in rows if wanted and row.cart_id == wanted), None) or queries.active(
        rows
    )
    if row is None:
        return None
    try:
        mine = (
            access(person_id, row.cart_id, VIEW) if row.role else Access(row.cart_id, row.cart_name)
        )
    except NoSuchCart:  # not shared any more
        return None
    if found is None or found.cart.cart_id != row.cart_id:
        found = get_priced_cart(queries.cart(row.cart_id, row.cart_name), customer_key=person)
    if kept is None or row.cart_id != hint:
        kept = queries.LATER.start(cart_id=row.cart_id)
    if around is None or row.cart_id != hint:
        around = people.people_started(row.cart_id)
    there = people.as_people(row.cart_id, around.rows())
    return Opened(found, queries.later(kept.rows()), mine, there)


def cart_address(request: HttpRequest) -> str:
    """Return the page of the cart that a press was about."""
    wanted = _wanted(request)
    return (
        reverse("cart:one", args=[wanted])
        if wanted and wanted != _active(request)
        else reverse("cart:show")
    )


def _active(request: HttpRequest) -> UUID | None:
    owner_id = owner.owner_of(request)
    return queries.badge(request_cart(request).reading(owner_id)).cart_id if owner_id else None


def _sums(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return what the cart comes to in the country chosen, with each way to get it there."""
    country, now = destination(request), datetime.now(UTC)
    ways = delivery.list_delivery_methods(country)
    sums = found.compute_quote(country, ways[0])
    return {
        "country": country,
        "countries": countries(),
        "sums": sums,
        "ways": [
            (
                way,
                found.applied_promotions.delivery_price(found.quoted_lines, way),
                *way.delivery_estimate(now),
            )
            for way in ways
        ]
        if sums
        else [],
    }


def _part(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return the lines that the page draws: the first hundred, or all if that is asked for."""
    everything = "all" in request.GET or len(found.lines) <= MOST_DRAWN
    return {
        "lines": found.lines if everything else found.lines[:MOST_DRAWN],
        "everything": everything,
    }


def badge_now(request: HttpRequest) -> Badge:
    """Return the active cart's sums as they are now; the header of this answer shows the same."""
    badge = queries.badge(request_cart(request).read_again(owner.owner_for_writing(request)))
    owner.saw_active_cart(request, badge.cart_id)
    return badge


def sums_in_words(badge: Badge) -> str:
    things = "1 item" if badge.item_count == 1 else f"{badge.item_count} items"
    return (
        f"{badge.name}: {things}, {in_words(badge.subtotal)}."
        if badge.item_count
        else f"{badge.name} is empty."
    )


def voucher_customer(request: HttpRequest, person_id: UUID) -> str:
    """Return as whom the visitor uses codes: a member by the account; of a guest that is known at the checkout only."""
    return "" if person_id == owner.guest_of(request) else voucher_customer_key(person_id)
