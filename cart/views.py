"""The cart's page, and the presses that change a cart. Each works as a plain form; to htmx it answers with the changed part."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cart import operations, owner, queries
from cart.errors import CartError, NoLongerSold, NoSuchCart, NoSuchLine, SoldOut
from cart.forms import LONGEST_SKU, AddForm, ChangeForm, LineForm, RestoreForm, add_form
from cart.undo import Removed, removed
from catalogue.queries import Product, Variant, categories_ahead, product, variant_by_sku
from catalogue.templatetags.money import money as in_words
from inventory.queries import stock_of
from web.methods import get_or_post
from web.rendering import done, page

TOO_LATE = "That was taken out too long ago to be put back from here. You can add it again from its page."


@require_safe
@never_cache
def show(request: HttpRequest) -> HttpResponse:
    """Show the active cart."""
    return page(request, "cart/show.html", _cart(request, undo=removed(request.GET.get("removed", ""))), part="cart")


@require_safe
@never_cache
def panel(request: HttpRequest) -> HttpResponse:
    """Show the header's cart again, after a change elsewhere."""
    if not getattr(request, "htmx", None):
        return redirect("cart:show")
    return page(request, "cart/panel.html", {}, part="panel")


@get_or_post
@never_cache
def add(request: HttpRequest) -> HttpResponse:
    """Put a variant into the active cart."""
    if request.method != "POST":
        return redirect("cart:show")
    form = AddForm(request.POST)
    goods = None
    try:
        goods = _goods(form["variant"].value())
        if not form.is_valid():
            return _not_added(request, form, goods)
        _in_stock(*goods)
        quantity, operation_id = form.cleaned_data["quantity"], form.cleaned_data["operation"]
        added = operations.line_added(
            owner.owner_for_writing(request), *goods, quantity, operation_id, datetime.now(UTC)
        )
    except CartError as error:
        form.add_error("quantity" if goods else None, str(error))
        return _not_added(request, form, goods)
    badge = _read_again(request)
    messages.success(request, _added_in_words(added, badge))
    context = {"added": added, "form": add_form(goods[1].sku), "quantity": quantity}
    return done(request, reverse("cart:show"), "cart/add.html", context, part="answer")


@get_or_post
@never_cache
def change(request: HttpRequest) -> HttpResponse:
    """Set a line's quantity."""
    if request.method != "POST":
        return redirect("cart:show")
    form = ChangeForm(request.POST)
    try:
        if not form.is_valid():
            return _unchanged(request, form)
        cart_id, line = _named_line(request, form)
        _, variant = _goods(line.sku)
        changed = operations.line_changed(
            _owner(request), cart_id, variant, form.cleaned_data["quantity"], datetime.now(UTC)
        )
    except (NoSuchCart, NoSuchLine) as error:
        return _refused(request, str(error))
    except CartError as error:
        form.add_error("quantity", str(error))
        return _unchanged(request, form)
    messages.success(request, _changed_in_words(changed, _read_again(request)))
    return done(request, reverse("cart:show"), "cart/show.html", lambda: _cart(request), part="cart")


@get_or_post
@never_cache
def remove(request: HttpRequest) -> HttpResponse:
    """Take a line out; the answer offers to put it back."""
    if request.method != "POST":
        return redirect("cart:show")
    form = LineForm(request.POST)
    try:
        cart_id, line = _named_line(request, form)
        undo = operations.line_removed(_owner(request), cart_id, line.key, datetime.now(UTC))
    except CartError as error:
        return _refused(request, str(error))
    messages.success(request, f"{undo.name} was taken out. {_sums_in_words(_read_again(request))}")
    to = f"{reverse('cart:show')}?{urlencode({'removed': undo.token()})}"
    return done(request, to, "cart/show.html", lambda: _cart(request, undo=undo), part="cart")


@get_or_post
@never_cache
def restore(request: HttpRequest) -> HttpResponse:
    """Put back what was taken out."""
    if request.method != "POST":
        return redirect("cart:show")
    form = RestoreForm(request.POST)
    undo = removed(form.cleaned_data["removed"]) if form.is_valid() else None
    if undo is None:
        return _refused(request, TOO_LATE)
    try:
        found = product(undo.product_id)
        variant = queries.on_sale(found, undo.variant_id)
        if found is None or variant is None:
            raise NoLongerSold(undo.name)
        restored = operations.line_restored(_owner(request), undo, found, variant, datetime.now(UTC))
    except CartError as error:
        return _refused(request, str(error))
    badge = _read_again(request)
    messages.success(request, f"{undo.name} is back in your cart.{_price_in_words(restored)} {_sums_in_words(badge)}")
    context = {"restored": restored.line.key if restored.line else ""}
    return done(request, reverse("cart:show"), "cart/show.html", lambda: _cart(request) | context, part="cart")


def _owner(request: HttpRequest) -> UUID:
    owner_id = owner.owner_of(request)
    if owner_id is None:
        raise NoSuchCart
    return owner_id


def _goods(sku: str | None) -> tuple[Product, Variant]:
    """Return what a SKU names. Raises NoLongerSold."""
    row = variant_by_sku(sku) if sku and len(sku) <= LONGEST_SKU and "\0" not in sku else None
    found = product(row.product_id) if row else None
    if row is None or found is None:
        raise NoLongerSold
    variant = queries.on_sale(found, row.variant_id)
    if variant is None:
        raise NoLongerSold(found.name)
    return found, variant


def _in_stock(found: Product, variant: Variant) -> None:
    stock = stock_of(found.product_id).get(variant.variant_id)
    if stock is None or stock.available < 1:
        raise SoldOut(found.name)


def _named_line(request: HttpRequest, form: LineForm) -> tuple[UUID, queries.Line]:
    """Return the cart's id and the line that a form names. Raises NoSuchLine."""
    form.full_clean()
    cart_id, key = (form.cleaned_data.get(name) for name in ("cart", "line"))
    line = queries.line(cart_id, str(key)) if cart_id and key else None
    if cart_id is None or line is None:
        raise NoSuchLine
    return cart_id, line


def _read_again(request: HttpRequest) -> queries.Badge:
    """Return the active cart's sums as they are now; the header of this answer shows the same."""
    request.cart_reading = reading = queries.badge_started(owner.owner_for_writing(request))  # type: ignore[attr-defined]
    badge = queries.badge(reading)
    owner.saw_active_cart(request, badge.cart_id)
    return badge


def _cart(request: HttpRequest, *, undo: Removed | None = None) -> dict[str, Any]:
    """Return what the cart's page shows."""
    categories_ahead()
    owner_id, reading = owner.owner_of(request), getattr(request, "cart_reading", None)
    if reading is None and owner_id:
        request.cart_reading = reading = queries.badge_started(owner_id)  # type: ignore[attr-defined]
    found = queries.shown(reading, owner.active_cart_hint(request)) if reading else None
    # The member was read beside the cart. One who may not sign in any more has lost the session by this look.
    if not request.user.is_authenticated and owner.owner_of(request) != owner_id:
        request.cart_reading = None  # type: ignore[attr-defined]
        return _cart(request, undo=undo)
    return {"shown": found, "cart": found.cart if found else None, "undo": undo}


def _not_added(request: HttpRequest, form: AddForm, goods: tuple[Product, Variant] | None) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "quantity": form["quantity"].value() or ""}
    if goods:
        context |= {"product": goods[0], "variant": goods[1]}
    return page(request, "cart/add.html", context, part="answer", status=422)


def _unchanged(request: HttpRequest, form: ChangeForm) -> HttpResponse:
    """Show the cart as it is, with the sentence beside the line's quantity and what was typed in it."""
    if "cart" in form.errors or "line" in form.errors:
        return _refused(request, str(NoSuchLine()))
    wrong = {
        "key": str(form.cleaned_data["line"]),
        "typed": form["quantity"].value(),
        "errors": form.errors["quantity"],
    }
    return page(request, "cart/show.html", _cart(request) | {"wrong": wrong, "form": form}, part="cart", status=422)


def _refused(request: HttpRequest, sentence: str) -> HttpResponse:
    return page(
        request, "cart/show.html", _cart(request) | {"refused": sentence, "has_errors": True}, part="cart", status=422
    )


def _sums_in_words(badge: queries.Badge) -> str:
    things = "1 item" if badge.item_count == 1 else f"{badge.item_count} items"
    return f"{badge.name}: {things}, {in_words(badge.subtotal)}." if badge.item_count else f"{badge.name} is empty."


def _price_in_words(added: operations.Added) -> str:
    if added.price_changed_from is None or added.line is None:
        return ""
    return f" The price has changed since you added it: it was {in_words(added.price_changed_from)}, now {in_words(added.line.price)}."


def _added_in_words(added: operations.Added, badge: queries.Badge) -> str:
    name = added.line.label if added.line else "It"
    return f"{name} is in your cart.{_price_in_words(added)} {_sums_in_words(badge)}"


def _changed_in_words(changed: operations.Added, badge: queries.Badge) -> str:
    name = changed.line.label if changed.line else "It"
    count = changed.line.quantity if changed.line else 0
    return f"{name}: {count} now.{_price_in_words(changed)} {_sums_in_words(badge)}"
