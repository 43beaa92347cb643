"""The page of a cart: its context, and the responses to a submit."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from moneyed import Money

from cart import owner, people, queries
from cart.access import VIEW, Access, require_access
from cart.entities import CartBadge, Line
from cart.errors import NoSuchCart
from cart.people import People
from cart.priced_cart import PricedCart, get_active_priced_cart, get_priced_cart
from cart.request_cart import get_request_cart
from cart.shipping_country import get_shipping_country, list_shipping_countries
from cart.shown_cart import CartSharing, CartTools, SumsBox, WrongQuantity, show_line
from cart.undo import RemovedLine, parse_removed_line
from cassandra_db import current_time
from catalogue.queries import prefetch_categories
from pricing import delivery, tax
from pricing.delivery_words import describe_delivery_price
from pricing.quotes import lines_weight
from pricing.templatetags.money import format_money as in_words
from promotions.operations import voucher_customer_keys
from shop_settings.queries import prefetch_settings
from web.rendering import render_page

# The most lines on the page, unless the request asks for all lines.
MAX_LINES_DRAWN = 100


@dataclass(frozen=True)
class CartDetails:
    """The cart of a page at today's prices, with its saved lines, its people, and the visitor's access to it."""

    priced_cart: PricedCart
    saved_lines: tuple[Line, ...]
    access: Access
    people: People


def render_cart_page(
    request: HttpRequest, context: dict[str, Any], status: int = 200
) -> HttpResponse:
    """Return the page of a cart for this context; after a submit it has the cart's present state."""
    return render_page(
        request, "cart/show.html", cart_context(request) | context, part="cart", status=status
    )


def render_changed_cart(
    request: HttpRequest,
    sentence: str,
    *,
    query: str = "",
    undo: RemovedLine | None = None,
    with_sum: bool = True,
) -> HttpResponse:
    """Answer a submit that has changed the cart: show the cart, and a sentence about the change.

    Without htmx it redirects to the cart's URL and `query`. With htmx the message includes the cart's sum, unless `with_sum` is False.
    """
    refresh_badge(request)
    if not getattr(request, "htmx", None):
        messages.success(request, sentence)
        return redirect(f"{cart_url(request)}{query}")
    context = cart_context(request, undo=undo)
    words = f"{sentence} {describe_page_cart(context)}" if with_sum else sentence
    messages.success(request, words.strip())
    return render_page(request, "cart/show.html", context, part="cart")


def render_refusal(request: HttpRequest, sentence: str) -> HttpResponse:
    """Answer a submit that has changed nothing: show the cart, and a sentence about the reason."""
    return render_cart_page(request, {"refused": sentence, "has_errors": True}, 422)


def cart_context(
    request: HttpRequest, *, undo: RemovedLine | None = None, wrong: WrongQuantity | None = None
) -> dict[str, Any]:
    """Return the context of the cart's page."""
    prefetch_categories()
    prefetch_settings()
    owner_id = owner.get_owner_id(request)
    details = _load_cart_details(request, owner_id) if owner_id else None
    # The member is read in parallel with the cart. A member who may no longer sign in loses the session at this read.
    if not request.user.is_authenticated and owner.get_owner_id(request) != owner_id:
        return cart_context(request, undo=undo, wrong=wrong)
    context: dict[str, Any] = {"undo": undo, "operation": uuid4()}
    if details is None:
        return context | {"priced_cart": None, "cart": None, "later": (), "access": None}
    found = details.priced_cart
    context |= {
        "priced_cart": found,
        "cart": found.cart,
        "later": details.saved_lines,
        "access": details.access,
    }
    is_live = details.people.has_others or not details.access.is_owner
    active = found.cart.cart_id == _active_cart_id(request)
    here = reverse("cart:show") if active else reverse("cart:one", args=[found.cart.cart_id])
    context |= {
        "here": here,
        # The version that the page polls, if others can change the cart.
        "live": people.page_version(queries.get_cart_version(found.cart), details.access.role)
        if is_live
        else "",
        "cart_sharing": _make_sharing(details, is_live=is_live),
        "cart_tools": CartTools(
            found.cart.cart_id, found.cart.name, details.access.role, found.cart.item_count
        ),
        "sums_box": _make_sums_box(request, found, details.access, here, is_active=active),
    }
    return context | _lines_context(request, found, details.access, wrong)


def _make_sharing(details: CartDetails, *, is_live: bool) -> CartSharing:
    access, others = details.access, details.people
    return CartSharing(
        access.cart_id,
        "" if access.is_owner else access.role_description,
        access.shared_by,
        others.names,
        bool(others.count),
        is_live,
    )


def _named_cart_id(request: HttpRequest) -> UUID | None:
    """Return the id of the cart that the URL or the form names; None if they name none, which means the active cart."""
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
    """Return the page's cart. Return None if it does not exist, or is no longer shared with this person."""
    reading = get_request_cart(request).prefetch_badge(person_id)
    wanted, expected_cart_id = _named_cart_id(request), owner.get_last_active_cart_id(request)
    saved_rows = (
        queries.SAVED_LINES.start(cart_id=expected_cart_id)
        if expected_cart_id and not wanted
        else None
    )
    pending_people = (
        people.prefetch_people(expected_cart_id) if expected_cart_id and not wanted else None
    )
    find_customer_keys = partial(get_voucher_customer_keys, request, person_id)
    found = (
        get_active_priced_cart(reading, expected_cart_id, find_customer_keys)
        if not wanted
        else None
    )
    rows = reading.result()[0]
    row = next(
        (row for row in rows if wanted and row.cart_id == wanted), None
    ) or queries.find_active_cart_row(rows)
    if row is None:
        return None
    try:
        access = (
            require_access(person_id, row.cart_id, VIEW)
            if row.role
            else Access(row.cart_id, row.cart_name)
        )
    except NoSuchCart:  # the cart is not shared with the person any more
        return None
    if found is None or found.cart.cart_id != row.cart_id:
        found = get_priced_cart(
            queries.get_cart(row.cart_id, row.cart_name), customer_keys=find_customer_keys()
        )
    if saved_rows is None or row.cart_id != expected_cart_id:
        saved_rows = queries.SAVED_LINES.start(cart_id=row.cart_id)
    if pending_people is None or row.cart_id != expected_cart_id:
        pending_people = people.prefetch_people(row.cart_id)
    found_people = people.people_from_rows(row.cart_id, pending_people.rows())
    return CartDetails(
        found, queries.saved_lines_from_rows(saved_rows.rows()), access, found_people
    )


def cart_url(request: HttpRequest) -> str:
    """Return the URL of the cart that a submit was about."""
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


def _make_sums_box(
    request: HttpRequest, found: PricedCart, access: Access, here: str, *, is_active: bool
) -> SumsBox:
    """Return the cart's sums for the chosen country, with each delivery method. Only the active cart can be ordered."""
    country, now = get_shipping_country(request), current_time()
    grams, methods = lines_weight(found.quoted_lines), delivery.list_delivery_methods(country)
    methods = [each for each in methods if each.takes(grams)] or methods
    quote = found.compute_quote(tax.get_tax_rates(country), methods[0])
    ways = tuple(
        (
            method,
            found.applied_promotions.delivery_price(found.quoted_lines, method),
            *method.delivery_estimate(now),
        )
        for method in (methods if quote else ())
    )
    return SumsBox(
        cart_id=found.cart.cart_id,
        here=here,
        country=country,
        countries=tuple(list_shipping_countries()),
        sums=quote,
        ways=ways,
        delivery_note=describe_delivery_price(quote, methods[0], grams) if quote else "",
        code=found.cart.voucher,
        refusal_reason=str(found.applied_promotions.refusal_reason),
        dearer_count=len(found.dearer_lines),
        is_active=is_active,
        can_edit=access.can_edit,
        can_order=access.can_order,
        shared_by=access.shared_by,
    )


def _lines_context(
    request: HttpRequest, found: PricedCart, access: Access, wrong: WrongQuantity | None
) -> dict[str, Any]:
    """Return the part of the context with the page's lines: the first hundred, or all lines if the request asks for them."""
    show_all = "all" in request.GET or len(found.lines) <= MAX_LINES_DRAWN
    lines, is_signed_in = found.lines, request.user.is_authenticated
    return {
        "lines": [
            show_line(each, access, is_signed_in=is_signed_in, wrong=wrong)
            for each in (lines if show_all else lines[:MAX_LINES_DRAWN])
        ],
        "everything": show_all,
    }


def refresh_badge(request: HttpRequest) -> CartBadge:
    """Read the header's cart again; return it, and show it in the header of this response."""
    reading = get_request_cart(request).prefetch_badge_again(owner.get_or_create_owner_id(request))
    return set_badge(request, queries.collect_badge(reading))


def set_badge(request: HttpRequest, badge: CartBadge) -> CartBadge:
    """Show this badge in the header of this response; return the badge."""
    get_request_cart(request).badge = badge
    owner.remember_active_cart(request, badge.cart_id)
    return badge


def describe_cart(name: str, item_count: int, subtotal: Money | None) -> str:
    """Return a sentence about a cart's items and sum; the sentence has no sum if `subtotal` is None."""
    if not item_count:
        return _("%(cart)s is empty.") % {"cart": name}
    said = {"cart": name, "count": item_count}
    if subtotal is None:
        return (
            ngettext("%(cart)s: %(count)s item.", "%(cart)s: %(count)s items.", item_count) % said
        )
    return ngettext(
        "%(cart)s: %(count)s item, %(subtotal)s.",
        "%(cart)s: %(count)s items, %(subtotal)s.",
        item_count,
    ) % (said | {"subtotal": in_words(subtotal)})


def describe_page_cart(context: Mapping[str, Any]) -> str:
    """Return the sentence of `describe_cart` for a page's context."""
    found: PricedCart | None = context["priced_cart"]
    if found is None:
        return ""
    return describe_cart(found.cart.name, found.cart.item_count, found.subtotal)


def get_voucher_customer_keys(request: HttpRequest, person_id: UUID) -> tuple[str, ...]:
    """Return a member's customer keys for codes; none for a guest, whose e-mail address is not known yet."""
    if person_id == owner.get_guest_id(request) or not request.user.is_authenticated:
        return ()
    email: str = request.user.confirmed_email  # type: ignore[attr-defined]
    return voucher_customer_keys(request.user.pk, email)
