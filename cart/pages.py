"""The page of a cart: what it draws, and how a press is answered by it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cart import owner, people, queries
from cart.access import VIEW, Access, require_access
from cart.entities import CartBadge, Line
from cart.errors import NoSuchCart
from cart.forms import VoucherForm
from cart.people import People
from cart.priced_cart import PricedCart, get_active_priced_cart, get_priced_cart
from cart.request_cart import get_request_cart
from cart.shipping_country import get_shipping_country, list_shipping_countries
from cart.undo import RemovedLine, parse_removed_line
from catalogue.queries import prefetch_categories
from pricing import delivery
from pricing.templatetags.money import format_money as in_words
from promotions.operations import voucher_customer_key
from web.rendering import render_or_redirect, render_page

# How many lines the page draws unless all are asked for.
MOST_DRAWN = 100


@dataclass(frozen=True)
class CartDetails:
    """A cart that a page is about: as it is today, what is kept for later in it, what one may do in it, and who else is there."""

    priced_cart: PricedCart
    saved_lines: tuple[Line, ...]
    access: Access
    people: People


def render_cart_page(
    request: HttpRequest, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Show the cart that a press was about, as it is."""
    return render_page(
        request, "cart/show.html", cart_context(request) | context, part="cart", status=status
    )


def render_changed_cart(request: HttpRequest) -> HttpResponse:
    """Answer a press that has changed the cart."""
    refresh_badge(request)
    return render_or_redirect(
        request, cart_url(request), "cart/show.html", lambda: cart_context(request), part="cart"
    )


def render_refusal(request: HttpRequest, sentence: str) -> HttpResponse:
    """Show the cart as it is, and why the press has changed nothing."""
    return render_cart_page(request, {"refused": sentence, "has_errors": True}, 422)


def cart_context(request: HttpRequest, *, undo: RemovedLine | None = None) -> dict[str, Any]:
    """Return what the cart's page shows."""
    prefetch_categories()
    owner_id = owner.get_owner_id(request)
    opened = _load_cart_details(request, owner_id) if owner_id else None
    # The member was read beside the cart. One who may not sign in any more has lost the session by this look.
    if not request.user.is_authenticated and owner.get_owner_id(request) != owner_id:
        return cart_context(request, undo=undo)
    context: dict[str, Any] = {"undo": undo, "operation": uuid4()}
    if opened is None:
        return context | {"shown": None, "cart": None, "later": (), "access": None}
    found = opened.priced_cart
    context |= {
        "shown": found,
        "cart": found.cart,
        "later": opened.saved_lines,
        "access": opened.access,
    }
    context |= (
        {"voucher": _voucher_form(found)}
        | _people_context(opened)
        | _address_context(request, found)
    )
    return context | _quote_context(request, found) | _lines_context(request, found)


def _voucher_form(found: PricedCart) -> VoucherForm:
    """Return the field for a code, with the one that the cart has, and beside it why that takes nothing off."""
    typed = found.cart.voucher
    form = VoucherForm({"cart": str(found.cart.cart_id), "code": typed}) if typed else VoucherForm()
    if found.applied_promotions.refusal_reason:
        form.add_error("code", found.applied_promotions.refusal_reason)
    return form


def _people_context(opened: CartDetails) -> dict[str, Any]:
    """Return who is in the cart, and the version that its page asks about if others may change it meanwhile."""
    there, mine = opened.people, opened.access
    live = there.has_others or not mine.is_owner
    return {
        "people": there,
        "live": people.page_version(queries.get_cart_version(opened.priced_cart.cart), mine.role)
        if live
        else "",
    }


def _address_context(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return whether this is the active cart, which alone is ordered, and the address of its page."""
    active = found.cart.cart_id == _active_cart_id(request)
    return {
        "active": active,
        "here": reverse("cart:show") if active else reverse("cart:one", args=[found.cart.cart_id]),
    }


def _named_cart_id(request: HttpRequest) -> UUID | None:
    """Return the cart that the address or the press names; None for the active one, whichever that is."""
    if request.method != "POST":
        named = request.resolver_match.kwargs.get("cart_id") if request.resolver_match else None
        return named if isinstance(named, UUID) else None
    if undo := parse_removed_line(request.POST.get("removed", "")):
        return undo.cart_id
    try:
        return UUID(request.POST.get("cart", ""))
    except ValueError:
        return None


def _load_cart_details(request: HttpRequest, person_id: UUID) -> CartDetails | None:
    """Return the cart that a page is about; None if there is none, or it is not shared with this person any more."""
    reading = get_request_cart(request).prefetch_badge(person_id)
    wanted, expected_cart_id = _named_cart_id(request), owner.get_last_active_cart_id(request)
    saved_rows = (
        queries.SAVED_LINES.start(cart_id=expected_cart_id)
        if expected_cart_id and not wanted
        else None
    )
    around = people.prefetch_people(expected_cart_id) if expected_cart_id and not wanted else None
    customer_key = get_voucher_customer_key(request, person_id)
    found = get_active_priced_cart(reading, expected_cart_id, customer_key) if not wanted else None
    rows = reading.result()[0]
    row = next(
        (row for row in rows if wanted and row.cart_id == wanted), None
    ) or queries.find_active_cart_row(rows)
    if row is None:
        return None
    try:
        mine = (
            require_access(person_id, row.cart_id, VIEW)
            if row.role
            else Access(row.cart_id, row.cart_name)
        )
    except NoSuchCart:  # not shared any more
        return None
    if found is None or found.cart.cart_id != row.cart_id:
        found = get_priced_cart(
            queries.get_cart(row.cart_id, row.cart_name), customer_key=customer_key
        )
    if saved_rows is None or row.cart_id != expected_cart_id:
        saved_rows = queries.SAVED_LINES.start(cart_id=row.cart_id)
    if around is None or row.cart_id != expected_cart_id:
        around = people.prefetch_people(row.cart_id)
    there = people.people_from_rows(row.cart_id, around.rows())
    return CartDetails(found, queries.saved_lines_from_rows(saved_rows.rows()), mine, there)


def cart_url(request: HttpRequest) -> str:
    """Return the page of the cart that a press was about."""
    wanted = _named_cart_id(request)
    return (
        reverse("cart:one", args=[wanted])
        if wanted and wanted != _active_cart_id(request)
        else reverse("cart:show")
    )


def _active_cart_id(request: HttpRequest) -> UUID | None:
    owner_id = owner.get_owner_id(request)
    return (
        queries.collect_badge(get_request_cart(request).prefetch_badge(owner_id)).cart_id
        if owner_id
        else None
    )


def _quote_context(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return what the cart comes to in the country chosen, with each way to get it there."""
    country, now = get_shipping_country(request), datetime.now(UTC)
    ways = delivery.list_delivery_methods(country)
    sums = found.compute_quote(country, ways[0])
    return {
        "country": country,
        "countries": list_shipping_countries(),
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


def _lines_context(request: HttpRequest, found: PricedCart) -> dict[str, Any]:
    """Return the lines that the page draws: the first hundred, or all if that is asked for."""
    everything = "all" in request.GET or len(found.lines) <= MOST_DRAWN
    return {
        "lines": found.lines if everything else found.lines[:MOST_DRAWN],
        "everything": everything,
    }


def refresh_badge(request: HttpRequest) -> CartBadge:
    """Return the active cart's sums as they are now; the header of this answer shows the same."""
    badge = queries.collect_badge(
        get_request_cart(request).prefetch_badge_again(owner.get_or_create_owner_id(request))
    )
    owner.remember_active_cart(request, badge.cart_id)
    return badge


def format_badge(badge: CartBadge) -> str:
    if not badge.item_count:
        return _("%(cart)s is empty.") % {"cart": badge.name}
    return ngettext(
        "%(cart)s: %(count)s item, %(subtotal)s.",
        "%(cart)s: %(count)s items, %(subtotal)s.",
        badge.item_count,
    ) % {"cart": badge.name, "count": badge.item_count, "subtotal": in_words(badge.subtotal)}


def get_voucher_customer_key(request: HttpRequest, person_id: UUID) -> str:
    """Return as whom the visitor uses codes: a member by the account; of a guest that is known at the checkout only."""
    return "" if person_id == owner.get_guest_id(request) else voucher_customer_key(person_id)
