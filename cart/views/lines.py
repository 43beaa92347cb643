"""The cart's page, and the presses that change a cart. Each works as a plain form; to htmx it answers with the changed part."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cart import operations, owner, people, queries
from cart.access import EDIT, VIEW, access
from cart.destination import destination_remembered
from cart.entities import Badge, Cart, Line
from cart.errors import CartError, NoSuchCart, NoSuchLine, PriceMoved, SoldOut
from cart.forms import AddForm, AgreeForm, ChangeForm, LineForm, RestoreForm, add_form
from cart.pages import badge_now, cart_address, cart_context, press_refused, sums_in_words
from cart.undo import removed
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import find_product_and_variant, get_current_product, get_sellable_variant
from inventory.queries import get_stock
from pricing.templatetags.money import format_money as in_words
from web.methods import own, post_only
from web.rendering import done, page, without_header

TOO_LATE = (
    "That was taken out too long ago to be put back from here. You can add it again from its page."
)


@require_safe
@never_cache
@own
def show(request: HttpRequest) -> HttpResponse:
    """Show the active cart, with its sums for the country that is chosen there."""
    part = "sums" if "country" in request.GET else "cart"
    context = cart_context(request, undo=removed(request.GET.get("removed", "")))
    response = page(request, "cart/show.html", context, part=part)
    destination_remembered(request, response)
    return response


@require_safe
@never_cache
@own
def one(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Show one of the person's carts, whichever is active."""
    try:
        access(owner.owner_of(request), cart_id, VIEW)
    except NoSuchCart as error:
        raise Http404 from error
    return show(request)


@require_safe
@never_cache
@without_header
@own
def changes(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Show a shared cart again if it is not as a page has seen it; else nothing, at the price of its static row."""
    person_id = owner.owner_of(request)
    version = people.version_seen_by(person_id, cart_id) if person_id else None
    if version is None:
        raise Http404("no such cart")
    if request.GET.get("version") == version:
        return HttpResponse(status=204)
    context = cart_context(request, undo=removed(request.GET.get("removed", "")))
    if context["cart"] is None or context["cart"].cart_id != cart_id:
        raise Http404("no such cart")
    messages.info(request, f"Changed meanwhile. {sums_in_words(_badge_of(context['cart']))}")
    return page(request, "cart/show.html", context, part="cart", beside=True)


def _badge_of(cart: Cart) -> Badge:
    return Badge(cart.name, cart.item_count, cart.subtotal, cart.cart_id)


@require_safe
@never_cache
@own
def panel(request: HttpRequest) -> HttpResponse:
    """Show the header's cart again, after a change elsewhere."""
    if not getattr(request, "htmx", None):
        return redirect("cart:show")
    return page(request, "cart/panel.html", {}, part="panel")


@post_only("cart:show")
@own
def add(request: HttpRequest) -> HttpResponse:
    """Put a variant into the active cart."""
    form = AddForm(request.POST)
    goods = None
    try:
        goods = find_product_and_variant(form["variant"].value())
        if not form.is_valid():
            return _not_added(request, form, goods)
        _in_stock(*goods)
        quantity, operation_id = form.cleaned_data["quantity"], form.cleaned_data["operation"]
        added = operations.line_added(
            owner.owner_for_writing(request),
            *goods,
            quantity,
            operation_id,
            datetime.now(UTC),
            guest=owner.is_guest(request),
        )
    except (CartError, NoLongerSold) as error:
        form.add_error("quantity" if goods else None, str(error))
        return _not_added(request, form, goods)
    badge = badge_now(request)
    messages.success(request, _added_in_words(added, badge))
    context = {"added": added, "form": add_form(goods[1].sku), "quantity": quantity}
    return done(request, reverse("cart:show"), "cart/add.html", context, part="answer")


@post_only("cart:show")
@own
def change(request: HttpRequest) -> HttpResponse:
    """Set a line's quantity."""
    form = ChangeForm(request.POST)
    try:
        if not form.is_valid():
            return _unchanged(request, form)
        cart_id, line = _named_line(request, form)
        _, variant = find_product_and_variant(line.sku)
        changed = operations.line_changed(
            _owner(request), cart_id, variant, form.cleaned_data["quantity"], datetime.now(UTC)
        )
    except (NoSuchCart, NoSuchLine) as error:
        return press_refused(request, str(error))
    except (CartError, NoLongerSold) as error:
        form.add_error("quantity", str(error))
        return _unchanged(request, form)
    messages.success(request, _changed_in_words(changed, badge_now(request)))
    return done(
        request, cart_address(request), "cart/show.html", lambda: cart_context(request), part="cart"
    )


@post_only("cart:show")
@own
def agree(request: HttpRequest) -> HttpResponse:
    """Agree to prices that have risen, as the page has shown them."""
    form = AgreeForm(request.POST)
    try:
        if not form.is_valid():
            return press_refused(request, str(PriceMoved()))
        agreed = form.cleaned_data["agreed"]
        operations.prices_agreed(
            _owner(request), form.cleaned_data["cart"], agreed, datetime.now(UTC)
        )
    except CartError as error:
        return press_refused(request, str(error))
    words = "The new price counts now." if len(agreed) == 1 else "The new prices count now."
    messages.success(request, f"{words} {sums_in_words(badge_now(request))}")
    return done(
        request, cart_address(request), "cart/show.html", lambda: cart_context(request), part="cart"
    )


@post_only("cart:show")
@own
def remove(request: HttpRequest) -> HttpResponse:
    """Take a line out; the answer offers to put it back."""
    form = LineForm(request.POST)
    try:
        cart_id, line = _named_line(request, form)
        undo = operations.line_removed(_owner(request), cart_id, line.key, datetime.now(UTC))
    except CartError as error:
        return press_refused(request, str(error))
    messages.success(request, f"{undo.name} was taken out. {sums_in_words(badge_now(request))}")
    to = f"{cart_address(request)}?{urlencode({'removed': undo.token()})}"
    return done(
        request, to, "cart/show.html", lambda: cart_context(request, undo=undo), part="cart"
    )


@post_only("cart:show")
@own
def restore(request: HttpRequest) -> HttpResponse:
    """Put back what was taken out."""
    form = RestoreForm(request.POST)
    undo = removed(form.cleaned_data["removed"]) if form.is_valid() else None
    if undo is None:
        return press_refused(request, TOO_LATE)
    try:
        found = get_current_product(undo.product_id)
        variant = get_sellable_variant(found, undo.variant_id)
        if found is None or variant is None:
            raise NoLongerSold(undo.name)
        restored = operations.line_restored(
            _owner(request), undo, found, variant, datetime.now(UTC)
        )
    except (CartError, NoLongerSold) as error:
        return press_refused(request, str(error))
    badge = badge_now(request)
    messages.success(request, f"{undo.name} is back in your cart. {sums_in_words(badge)}")
    context = {"restored": restored.line.key if restored.line else ""}
    return done(
        request,
        cart_address(request),
        "cart/show.html",
        lambda: cart_context(request) | context,
        part="cart",
    )


def _owner(request: HttpRequest) -> UUID:
    owner_id = owner.owner_of(request)
    if owner_id is None:
        raise NoSuchCart
    return owner_id


def _in_stock(found: Product, variant: Variant) -> None:
    stock = get_stock(found.product_id).get(variant.variant_id)
    if stock is None or stock.available < 1:
        raise SoldOut(found.name)


def _named_line(request: HttpRequest, form: LineForm) -> tuple[UUID, Line]:
    """Return the cart's id and the line that a form names. Raises NoSuchLine, NotAllowed, and NoSuchCart before any look at it."""
    form.full_clean()
    cart_id, key = (form.cleaned_data.get(name) for name in ("cart", "line"))
    if cart_id is None or key is None:
        raise NoSuchLine
    access(owner.owner_of(request), cart_id, EDIT)
    line = queries.line(cart_id, str(key))
    if line is None:
        raise NoSuchLine
    return cart_id, line


def _not_added(
    request: HttpRequest, form: AddForm, goods: tuple[Product, Variant] | None
) -> HttpResponse:
    # The next press is another one: it goes to the cart that is active then.
    form.data = {name: form.data[name] for name in form.data} | {"operation": str(uuid4())}
    context: dict[str, Any] = {"form": form, "quantity": form["quantity"].value() or ""}
    if goods:
        context |= {"product": goods[0], "variant": goods[1]}
    return page(request, "cart/add.html", context, part="answer", status=422)


def _unchanged(request: HttpRequest, form: ChangeForm) -> HttpResponse:
    """Show the cart as it is, with the sentence beside the line's quantity and what was typed in it."""
    if "cart" in form.errors or "line" in form.errors:
        return press_refused(request, str(NoSuchLine()))
    wrong = {
        "key": str(form.cleaned_data["line"]),
        "typed": form["quantity"].value(),
        "errors": form.errors["quantity"],
    }
    return page(
        request,
        "cart/show.html",
        cart_context(request) | {"wrong": wrong, "form": form},
        part="cart",
        status=422,
    )


def _price_in_words(added: operations.Added) -> str:
    if added.price_changed_from is None or added.line is None:
        return ""
    return f" The price has changed since you added it: it was {in_words(added.price_changed_from)}, now {in_words(added.line.price)}."


def _added_in_words(added: operations.Added, badge: Badge) -> str:
    name = added.line.label if added.line else "It"
    return f"{name} is in your cart.{_price_in_words(added)} {sums_in_words(badge)}"


def _changed_in_words(changed: operations.Added, badge: Badge) -> str:
    name = changed.line.label if changed.line else "It"
    count = changed.line.quantity if changed.line else 0
    return f"{name}: {count} now. {sums_in_words(badge)}"
