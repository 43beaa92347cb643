"""The cart's page, and the presses that change a cart. Each works as a plain form; to htmx it answers with the changed part."""

from dataclasses import dataclass
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
from cart.access import EDIT, VIEW, Access, access
from cart.destination import countries, destination, destination_remembered
from cart.entities import Badge, Cart, Line
from cart.errors import CartError, NoSuchCart, NoSuchLine, PriceMoved, SoldOut
from cart.forms import AddForm, AgreeForm, ChangeForm, LineForm, RestoreForm, VoucherForm, add_form
from cart.people import People
from cart.request_cart import request_cart
from cart.today import CartToday, as_today, shown
from cart.undo import Removed, removed
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import categories_ahead, goods_named, on_sale, product_now
from inventory.queries import stock_of
from pricing import delivery
from pricing.templatetags.money import money as in_words
from promotions.operations import person_key
from web.methods import get_or_post, own
from web.rendering import done, page, without_header


@dataclass(frozen=True)
class Opened:
    """A cart that a page is about: as it is today, what is kept for later in it, what one may do in it, and who else is there."""

    shown: CartToday
    later: tuple[Line, ...]
    access: Access
    people: People


# How many lines the page draws unless all are asked for.
MOST_DRAWN = 100
TOO_LATE = "That was taken out too long ago to be put back from here. You can add it again from its page."


@require_safe
@never_cache
@own
def show(request: HttpRequest) -> HttpResponse:
    """Show the active cart, with its sums for the country that is chosen there."""
    part = "sums" if "country" in request.GET else "cart"
    context = _cart(request, undo=removed(request.GET.get("removed", "")))
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
    context = _cart(request, undo=removed(request.GET.get("removed", "")))
    if context["cart"] is None or context["cart"].cart_id != cart_id:
        raise Http404("no such cart")
    messages.info(request, f"Changed meanwhile. {_sums_in_words(_badge_of(context['cart']))}")
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


@get_or_post
@never_cache
@own
def add(request: HttpRequest) -> HttpResponse:
    """Put a variant into the active cart."""
    if request.method != "POST":
        return redirect("cart:show")
    form = AddForm(request.POST)
    goods = None
    try:
        goods = goods_named(form["variant"].value())
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
    badge = _read_again(request)
    messages.success(request, _added_in_words(added, badge))
    context = {"added": added, "form": add_form(goods[1].sku), "quantity": quantity}
    return done(request, reverse("cart:show"), "cart/add.html", context, part="answer")


@get_or_post
@never_cache
@own
def change(request: HttpRequest) -> HttpResponse:
    """Set a line's quantity."""
    if request.method != "POST":
        return redirect("cart:show")
    form = ChangeForm(request.POST)
    try:
        if not form.is_valid():
            return _unchanged(request, form)
        cart_id, line = _named_line(request, form)
        _, variant = goods_named(line.sku)
        changed = operations.line_changed(
            _owner(request), cart_id, variant, form.cleaned_data["quantity"], datetime.now(UTC)
        )
    except (NoSuchCart, NoSuchLine) as error:
        return press_refused(request, str(error))
    except (CartError, NoLongerSold) as error:
        form.add_error("quantity", str(error))
        return _unchanged(request, form)
    messages.success(request, _changed_in_words(changed, _read_again(request)))
    return done(request, _address(request), "cart/show.html", lambda: _cart(request), part="cart")


@get_or_post
@never_cache
@own
def agree(request: HttpRequest) -> HttpResponse:
    """Agree to prices that have risen, as the page has shown them."""
    if request.method != "POST":
        return redirect("cart:show")
    form = AgreeForm(request.POST)
    try:
        if not form.is_valid():
            return press_refused(request, str(PriceMoved()))
        agreed = form.cleaned_data["agreed"]
        operations.prices_agreed(_owner(request), form.cleaned_data["cart"], agreed, datetime.now(UTC))
    except CartError as error:
        return press_refused(request, str(error))
    words = "The new price counts now." if len(agreed) == 1 else "The new prices count now."
    messages.success(request, f"{words} {_sums_in_words(_read_again(request))}")
    return done(request, _address(request), "cart/show.html", lambda: _cart(request), part="cart")


@get_or_post
@never_cache
@own
def remove(request: HttpRequest) -> HttpResponse:
    """Take a line out; the answer offers to put it back."""
    if request.method != "POST":
        return redirect("cart:show")
    form = LineForm(request.POST)
    try:
        cart_id, line = _named_line(request, form)
        undo = operations.line_removed(_owner(request), cart_id, line.key, datetime.now(UTC))
    except CartError as error:
        return press_refused(request, str(error))
    messages.success(request, f"{undo.name} was taken out. {_sums_in_words(_read_again(request))}")
    to = f"{_address(request)}?{urlencode({'removed': undo.token()})}"
    return done(request, to, "cart/show.html", lambda: _cart(request, undo=undo), part="cart")


@get_or_post
@never_cache
@own
def restore(request: HttpRequest) -> HttpResponse:
    """Put back what was taken out."""
    if request.method != "POST":
        return redirect("cart:show")
    form = RestoreForm(request.POST)
    undo = removed(form.cleaned_data["removed"]) if form.is_valid() else None
    if undo is None:
        return press_refused(request, TOO_LATE)
    try:
        found = product_now(undo.product_id)
        variant = on_sale(found, undo.variant_id)
        if found is None or variant is None:
            raise NoLongerSold(undo.name)
        restored = operations.line_restored(_owner(request), undo, found, variant, datetime.now(UTC))
    except (CartError, NoLongerSold) as error:
        return press_refused(request, str(error))
    badge = _read_again(request)
    messages.success(request, f"{undo.name} is back in your cart. {_sums_in_words(badge)}")
    context = {"restored": restored.line.key if restored.line else ""}
    return done(request, _address(request), "cart/show.html", lambda: _cart(request) | context, part="cart")


def person_of(request: HttpRequest, person_id: UUID) -> str:
    """Return as whom the visitor uses codes: a member by the account; of a guest that is known at the checkout only."""
    return "" if person_id == owner.guest_of(request) else person_key(person_id)


def _owner(request: HttpRequest) -> UUID:
    owner_id = owner.owner_of(request)
    if owner_id is None:
        raise NoSuchCart
    return owner_id


def _in_stock(found: Product, variant: Variant) -> None:
    stock = stock_of(found.product_id).get(variant.variant_id)
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


def _read_again(request: HttpRequest) -> Badge:
    """Return the active cart's sums as they are now; the header of this answer shows the same."""
    badge = queries.badge(request_cart(request).read_again(owner.owner_for_writing(request)))
    owner.saw_active_cart(request, badge.cart_id)
    return badge


def _cart(request: HttpRequest, *, undo: Removed | None = None) -> dict[str, Any]:
    """Return what the cart's page shows."""
    categories_ahead()
    owner_id = owner.owner_of(request)
    opened = _opened(request, owner_id) if owner_id else None
    # The member was read beside the cart. One who may not sign in any more has lost the session by this look.
    if not request.user.is_authenticated and owner.owner_of(request) != owner_id:
        return _cart(request, undo=undo)
    context: dict[str, Any] = {"undo": undo, "operation": uuid4()}
    if opened is None:
        return context | {"shown": None, "cart": None, "later": (), "access": None}
    found = opened.shown
    context |= {"shown": found, "cart": found.cart, "later": opened.later, "access": opened.access}
    context |= {"voucher": _voucher(found)} | _shared(opened) | _place(request, found)
    return context | _sums(request, found) | _part(request, found)


def _voucher(found: CartToday) -> VoucherForm:
    """Return the field for a code, with the one that the cart has, and beside it why that takes nothing off."""
    typed = found.cart.voucher
    form = VoucherForm({"cart": str(found.cart.cart_id), "code": typed}) if typed else VoucherForm()
    if found.applied.refused:
        form.add_error("code", found.applied.refused)
    return form


def _shared(opened: Opened) -> dict[str, Any]:
    """Return who is in the cart, and the version that its page asks about if others may change it meanwhile."""
    there, mine = opened.people, opened.access
    live = there.live or not mine.own
    return {"people": there, "live": people.version(queries.version_of(opened.shown.cart), mine.role) if live else ""}


def _place(request: HttpRequest, found: CartToday) -> dict[str, Any]:
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
    person = person_of(request, person_id)
    found = shown(reading, hint, person) if not wanted else None
    rows = reading.result()[0]
    row = next((row for row in rows if wanted and row.cart_id == wanted), None) or queries.active(rows)
    if row is None:
        return None
    try:
        mine = access(person_id, row.cart_id, VIEW) if row.role else Access(row.cart_id, row.cart_name)
    except NoSuchCart:  # not shared any more
        return None
    if found is None or found.cart.cart_id != row.cart_id:
        found = as_today(queries.cart(row.cart_id, row.cart_name), person=person)
    if kept is None or row.cart_id != hint:
        kept = queries.LATER.start(cart_id=row.cart_id)
    if around is None or row.cart_id != hint:
        around = people.people_started(row.cart_id)
    there = people.as_people(row.cart_id, around.rows())
    return Opened(found, queries.later(kept.rows()), mine, there)


def _address(request: HttpRequest) -> str:
    """Return the page of the cart that a press was about."""
    wanted = _wanted(request)
    return reverse("cart:one", args=[wanted]) if wanted and wanted != _active(request) else reverse("cart:show")


def _active(request: HttpRequest) -> UUID | None:
    owner_id = owner.owner_of(request)
    return queries.badge(request_cart(request).reading(owner_id)).cart_id if owner_id else None


def _sums(request: HttpRequest, found: CartToday) -> dict[str, Any]:
    """Return what the cart comes to in the country chosen, with each way to get it there."""
    country, now = destination(request), datetime.now(UTC)
    ways = delivery.methods(country)
    sums = found.sums(country, ways[0])
    return {
        "country": country,
        "countries": countries(),
        "sums": sums,
        "ways": [(way, found.applied.delivery(found.quoted, way), *way.arrives(now)) for way in ways] if sums else [],
    }


def _part(request: HttpRequest, found: CartToday) -> dict[str, Any]:
    """Return the lines that the page draws: the first hundred, or all if that is asked for."""
    everything = "all" in request.GET or len(found.lines) <= MOST_DRAWN
    return {"lines": found.lines if everything else found.lines[:MOST_DRAWN], "everything": everything}


def _not_added(request: HttpRequest, form: AddForm, goods: tuple[Product, Variant] | None) -> HttpResponse:
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
    return page(request, "cart/show.html", _cart(request) | {"wrong": wrong, "form": form}, part="cart", status=422)


def cart_shown(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Show the cart that a press was about, as it is."""
    return page(request, "cart/show.html", _cart(request) | context, part="cart", status=status)


def cart_changed(request: HttpRequest) -> HttpResponse:
    """Answer a press that has changed the cart."""
    _read_again(request)
    return done(request, _address(request), "cart/show.html", lambda: _cart(request), part="cart")


def press_refused(request: HttpRequest, sentence: str) -> HttpResponse:
    """Show the cart as it is, and why the press has changed nothing."""
    return cart_shown(request, {"refused": sentence, "has_errors": True}, 422)


def _sums_in_words(badge: Badge) -> str:
    things = "1 item" if badge.item_count == 1 else f"{badge.item_count} items"
    return f"{badge.name}: {things}, {in_words(badge.subtotal)}." if badge.item_count else f"{badge.name} is empty."


def _price_in_words(added: operations.Added) -> str:
    if added.price_changed_from is None or added.line is None:
        return ""
    return f" The price has changed since you added it: it was {in_words(added.price_changed_from)}, now {in_words(added.line.price)}."


def _added_in_words(added: operations.Added, badge: Badge) -> str:
    name = added.line.label if added.line else "It"
    return f"{name} is in your cart.{_price_in_words(added)} {_sums_in_words(badge)}"


def _changed_in_words(changed: operations.Added, badge: Badge) -> str:
    name = changed.line.label if changed.line else "It"
    count = changed.line.quantity if changed.line else 0
    return f"{name}: {count} now. {_sums_in_words(badge)}"
