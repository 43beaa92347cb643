"""The cart's page, and changes of its lines, as plain forms or by htmx."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe
from moneyed import Money

from analytics.events import NotedEvent, note_event
from cart import operations, owner, people, queries
from cart.access import EDIT, VIEW, require_access
from cart.entities import CartBadge, Line
from cart.errors import CartError, NoSuchCart, NoSuchLine, NotEnoughLeft, PriceChanged, SoldOut
from cart.forms import (
    AddForm,
    LineForm,
    LineQuantityForm,
    PriceConsentForm,
    RestoreForm,
    build_add_form,
)
from cart.pages import (
    cart_context,
    describe_cart,
    describe_page_cart,
    refresh_badge,
    render_changed_cart,
    render_refusal,
    set_badge,
)
from cart.priced_cart import count_units_left, price_lines, sum_lines
from cart.shipping_country import remember_shipping_country
from cart.shown_cart import WrongQuantity
from cart.undo import parse_removed_line
from cassandra_db import current_time
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import get_product_at_quorum, get_sellable_variant
from inventory.products_with_stock import (
    ProductWithStock,
    find_variant_with_stock,
    get_products_with_stock,
)
from pricing.templatetags.money import format_money as in_words
from web.decorators import owner_only, post_only
from web.rendering import render_or_redirect, render_page, without_header

TOO_LATE = gettext_lazy(
    "It’s too late to undo this. You can add the item again from its product page."
)


@require_safe
@owner_only
def active_cart_detail(request: HttpRequest) -> HttpResponse:
    """Show the page of the active cart, with its sums for the chosen country."""
    part = "sums" if "country" in request.GET else "cart"
    context = cart_context(request, undo=parse_removed_line(request.GET.get("removed", "")))
    response = render_page(request, "cart/show.html", context, part=part)
    remember_shipping_country(request, response)
    return response


@require_safe
@owner_only
def cart_detail(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Show the page of one of the visitor's carts, whether it is active or not."""
    try:
        require_access(owner.get_owner_id(request), cart_id, VIEW)
    except NoSuchCart as error:
        raise Http404 from error
    return active_cart_detail(request)


@require_safe
@without_header
@owner_only
def cart_changes(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Answer the polling page of a shared cart: show the cart again if it has changed. An unchanged cart costs one round of reads."""
    person_id = owner.get_owner_id(request)
    version = people.get_page_version(person_id, cart_id) if person_id else None
    if version is None:
        raise Http404("no such cart")
    if request.GET.get("version") == version:
        return HttpResponse(status=204)
    context = cart_context(request, undo=parse_removed_line(request.GET.get("removed", "")))
    if context["cart"] is None or context["cart"].cart_id != cart_id:
        raise Http404("no such cart")
    messages.info(
        request, _("This cart was updated. %(cart)s") % {"cart": describe_page_cart(context)}
    )
    return render_page(request, "cart/show.html", context, part="cart", with_oob=True)


@require_safe
@owner_only
def cart_panel(request: HttpRequest) -> HttpResponse:
    """Show the header's cart again, after another part of the page has changed it."""
    if not getattr(request, "htmx", None):
        return redirect("cart:show")
    return render_page(request, "cart/panel.html", {}, part="panel")


@post_only("cart:show")
@owner_only
def add_line(request: HttpRequest) -> HttpResponse:
    """Put a variant into the active cart."""
    form = AddForm(request.POST)
    owner_id = owner.get_owner_id(request)
    list_owner_id = owner_id or owner.find_next_guest_id(request)
    carts = queries.prefetch_carts(list_owner_id) if list_owner_id else None
    product_and_variant = None
    try:
        found, product, variant = find_variant_with_stock(form["variant"].value(), form.product_id)
        product_and_variant = product, variant
        if not form.is_valid():
            return _add_refusal(request, form, product_and_variant)
        available = _count_available(found, variant.variant_id)
        quantity, idempotency_key = form.cleaned_data["quantity"], form.cleaned_data["operation"]
        if owner_id is None and quantity > available:
            # Refuse the units before a cart is created for them.
            raise NotEnoughLeft(available) if available else SoldOut(product.name)
        added = operations.add_line(
            owner.get_or_create_owner_id(request),
            product,
            variant,
            quantity,
            idempotency_key,
            current_time(),
            guest=owner.is_guest(request),
            already_read=operations.AlreadyRead(carts, available),
        )
    except (CartError, NoLongerSold) as error:
        form.add_error("quantity" if product_and_variant else None, str(error))
        return _add_refusal(request, form, product_and_variant, _set_to(error))
    badge = set_badge(request, added.badge) if added.badge else refresh_badge(request)
    subtotal = _sum_after_add(added, found) if badge.cart_id == added.cart_id else None
    messages.success(request, _added_in_words(added, badge, subtotal))
    context = {
        "added": added,
        "subtotal": subtotal,
        "form": build_add_form(product.product_id, variant.sku),
        "quantity": quantity,
    }
    response = render_or_redirect(
        request, reverse("cart:show"), "cart/add.html", context, part="answer"
    )
    return note_event(response, NotedEvent("add", product.product_id, product.category_id))


@post_only("cart:show")
@owner_only
def change_line_quantity(request: HttpRequest) -> HttpResponse:
    """Set a line's quantity."""
    form = LineQuantityForm(request.POST)
    try:
        if not form.is_valid():
            return _change_refusal(request, form)
        cart_id, line = _named_line(request, form)
        # Find the variant by its ids: another variant may have its SKU by now.
        found = get_products_with_stock([line.product_id])[line.product_id]
        variant = get_sellable_variant(found.product, line.variant_id)
        if variant is None:
            raise NoLongerSold(line.name)
        quantity = form.cleaned_data["quantity"]
        _check_units_left(cart_id, line, _count_available(found, line.variant_id), quantity)
        changed = operations.change_line_quantity(
            _owner_id(request), cart_id, variant, quantity, current_time()
        )
    except (NoSuchCart, NoSuchLine) as error:
        return render_refusal(request, str(error))
    except (CartError, NoLongerSold) as error:
        form.add_error("quantity", str(error))
        return _change_refusal(request, form, is_too_many=isinstance(error, NotEnoughLeft))
    return render_changed_cart(request, _changed_in_words(changed))


@post_only("cart:show")
@owner_only
def accept_prices(request: HttpRequest) -> HttpResponse:
    """Accept the risen prices that the page showed."""
    form = PriceConsentForm(request.POST)
    try:
        if not form.is_valid():
            return render_refusal(request, str(PriceChanged()))
        consents = form.cleaned_data["agreed"]
        operations.accept_prices(
            _owner_id(request), form.cleaned_data["cart"], consents, current_time()
        )
    except CartError as error:
        return render_refusal(request, str(error))
    message = _("New price accepted.") if len(consents) == 1 else _("New prices accepted.")
    return render_changed_cart(request, message)


@post_only("cart:show")
@owner_only
def remove_line(request: HttpRequest) -> HttpResponse:
    """Remove a line; the response offers an undo."""
    form = LineForm(request.POST)
    try:
        cart_id, line = _named_line(request, form)
        undo = operations.remove_line(_owner_id(request), cart_id, line.key, current_time())
    except CartError as error:
        return render_refusal(request, str(error))
    removed = _("%(name)s was removed.") % {"name": undo.name}
    query = f"?{urlencode({'removed': undo.token()})}"
    return render_changed_cart(request, removed, query=query, undo=undo)


@post_only("cart:show")
@owner_only
def restore_line(request: HttpRequest) -> HttpResponse:
    """Restore a removed line."""
    form = RestoreForm(request.POST)
    undo = parse_removed_line(form.cleaned_data["removed"]) if form.is_valid() else None
    if undo is None:
        return render_refusal(request, str(TOO_LATE))
    try:
        found = get_product_at_quorum(undo.product_id)
        variant = get_sellable_variant(found, undo.variant_id)
        if found is None or variant is None:
            raise NoLongerSold(undo.name)
        operations.restore_line(_owner_id(request), undo, found, variant, current_time())
    except (CartError, NoLongerSold) as error:
        return render_refusal(request, str(error))
    words = _("%(name)s is back in your cart.") % {"name": undo.name}
    return render_changed_cart(request, words)


def _owner_id(request: HttpRequest) -> UUID:
    owner_id = owner.get_owner_id(request)
    if owner_id is None:
        raise NoSuchCart
    return owner_id


def _named_line(request: HttpRequest, form: LineForm) -> tuple[UUID, Line]:
    """Return the id of the cart and the line that a form names. Raises NoSuchLine, NotAllowed, NoSuchCart."""
    form.full_clean()
    cart_id, key = (form.cleaned_data.get(name) for name in ("cart", "line"))
    if cart_id is None or key is None:
        raise NoSuchLine
    require_access(owner.get_owner_id(request), cart_id, EDIT)
    line = queries.get_line(cart_id, str(key))
    if line is None:
        raise NoSuchLine
    return cart_id, line


def _count_available(found: ProductWithStock, variant_id: UUID) -> int:
    stock = found.stock.get(variant_id)
    return stock.available if stock else 0


def _check_units_left(cart_id: UUID, line: Line, available: int, quantity: int) -> None:
    """Raise SoldOut or NotEnoughLeft if a line would have more units than are left for its cart."""
    if quantity <= available:
        return
    left = count_units_left(cart_id, line.variant_id, available)
    if left < 1:
        raise SoldOut(line.name)
    if quantity > left:
        raise NotEnoughLeft(left)


def _set_to(error: Exception) -> dict[str, Any] | None:
    """Return the form data of the button "Set to N", if `error` says that N units are left; None if there is no button."""
    if not isinstance(error, NotEnoughLeft) or error.in_cart >= error.left:
        return None
    return {"left": error.left, "more": error.left - error.in_cart, "operation": uuid4()}


def _sum_after_add(added: operations.LineResult, found: ProductWithStock) -> Money | None:
    """Return the cart's sum (X123) if it has few lines; `found` is the added product."""
    if added.cart is None or found.product is None:
        return None
    known = {found.product.product_id: found}
    others = {line.product_id for line in added.cart.lines} - set(known)
    return sum_lines(price_lines(added.cart, known | get_products_with_stock(others)))


def _add_refusal(
    request: HttpRequest,
    form: AddForm,
    product_and_variant: tuple[Product, Variant] | None,
    set_to: dict[str, Any] | None = None,
) -> HttpResponse:
    # The form for the next submit gets a new key, so that the submit goes to the cart that is active then.
    form.data = {name: form.data[name] for name in form.data} | {"operation": str(uuid4())}
    context: dict[str, Any] = {
        "form": form,
        "quantity": form["quantity"].value() or "",
        "set_to": set_to,
    }
    if product_and_variant:
        context |= {"product": product_and_variant[0], "variant": product_and_variant[1]}
    return render_page(request, "cart/add.html", context, part="answer", status=422)


def _change_refusal(
    request: HttpRequest, form: LineQuantityForm, *, is_too_many: bool = False
) -> HttpResponse:
    """Show the cart with the error and the typed quantity at the line."""
    if "cart" in form.errors or "line" in form.errors:
        return render_refusal(request, str(NoSuchLine()))
    wrong = WrongQuantity(
        key=str(form.cleaned_data["line"]),
        typed=form["quantity"].value(),
        errors=tuple(str(error) for error in form.errors["quantity"]),
        is_too_many=is_too_many,
    )
    return render_page(
        request,
        "cart/show.html",
        cart_context(request, wrong=wrong) | {"form": form},
        part="cart",
        status=422,
    )


def _price_in_words(added: operations.LineResult) -> str:
    if added.price_changed_from is None or added.line is None:
        return ""
    return _("The price has changed since you added it: it was %(old)s, now %(new)s.") % {
        "old": in_words(added.price_changed_from),
        "new": in_words(added.line.price),
    }


def _added_in_words(added: operations.LineResult, badge: CartBadge, subtotal: Money | None) -> str:
    name = added.line.label if added.line else _("Item")
    words = _("%(name)s was added to your cart.") % {"name": name}
    cart = describe_cart(badge.name, badge.item_count, subtotal)
    return " ".join(filter(None, (words, _price_in_words(added), cart)))


def _changed_in_words(changed: operations.LineResult) -> str:
    name = changed.line.label if changed.line else _("Item")
    count = changed.line.quantity if changed.line else 0
    return _("%(name)s: quantity changed to %(count)s.") % {"name": name, "count": count}
