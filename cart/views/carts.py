"""The page of a person's list of carts, and the actions on a whole cart or between two carts."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar
from urllib.parse import urlencode
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe
from moneyed import Money

from cart import limits, operations, owner, queries
from cart.access import EDIT, OWN, VIEW, Access, require_access
from cart.cards import list_cart_cards, prefetch_card
from cart.entities import ListedCart
from cart.errors import CartError, InvalidCartName, NoSuchCart, NoSuchLine, NotAllowed
from cart.forms import CartNameForm, IdempotencyForm, TargetCartForm
from cart.merge_preview import MergePreview, preview_merge
from cart.priced_cart import price_lines, sum_lines
from cart.request_cart import get_request_cart
from cart.undo import Undo, parse_undo
from cassandra_db import current_time
from catalogue.queries import prefetch_categories
from inventory.products_with_stock import get_products_with_stock
from web.decorators import get_or_post, owner_only, post_only
from web.own_pages import is_own_page
from web.rendering import render_page

T = TypeVar("T")
TOO_LATE = gettext_lazy("It’s too late to undo this.")


@require_safe
@owner_only
def cart_list(request: HttpRequest) -> HttpResponse:
    """Show the page with all of the visitor's carts."""
    return _cart_list_page(request, undo=parse_undo(request.GET.get("undo", "")))


@post_only("cart:carts")
@owner_only
def create_cart(request: HttpRequest) -> HttpResponse:
    """Make a new cart, which becomes the active one."""
    form = CartNameForm(request.POST)
    if not form.is_valid():
        return _cart_list_page(request, form=form, status=422)
    name, idempotency_key = form.cleaned_data["name"], form.cleaned_data["operation"]
    try:
        operations.create_cart(
            owner.get_or_create_owner_id(request),
            name,
            idempotency_key,
            current_time(),
            guest=owner.is_guest(request),
        )
    except CartError as error:
        form.add_error("name", str(error))
        return _cart_list_page(request, form=form, status=422)
    messages.success(request, _("Your new cart is ready. Items you add now go into it."))
    return redirect("cart:carts")


@get_or_post
@owner_only
def rename_cart(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Give a cart another name."""
    found = _require_access(request, cart_id, OWN)
    form = CartNameForm(
        request.POST if request.method == "POST" else None, initial={"name": found.name}
    )
    if request.method == "POST" and form.is_valid():
        try:
            name = operations.rename_cart(
                _person_id(request), cart_id, form.cleaned_data["name"], current_time()
            )
        except InvalidCartName as error:
            form.add_error("name", str(error))
        except CartError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Cart renamed to %(name)s.") % {"name": name})
            return redirect("cart:carts")
    return render_page(
        request,
        "cart/rename.html",
        {"access": found, "form": form},
        status=422 if form.is_bound else 200,
    )


@post_only("cart:carts")
@owner_only
def switch_cart(request: HttpRequest) -> HttpResponse:
    """Make another cart the active one, and return to the page from which it was chosen."""
    name = _run_action(
        request, lambda person: operations.switch_cart(person, _cart_id(request), current_time())
    )
    if name:
        messages.success(
            request,
            _("%(name)s is now your active cart. Items you add go into it.") % {"name": name},
        )
    return HttpResponseRedirect(_next_url(request))


@post_only("cart:carts")
@owner_only
def duplicate_cart(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Make a new cart with the lines of another one."""
    idempotency_key, guest = _idempotency_key(request), owner.is_guest(request)
    copy = _run_action(
        request,
        lambda person: operations.duplicate_cart(
            person, cart_id, idempotency_key, current_time(), guest=guest
        ),
    )
    if copy:
        messages.success(
            request, _("%(name)s was created with the same items.") % {"name": copy[1]}
        )
    return redirect("cart:carts")


@post_only("cart:carts")
@owner_only
def empty_cart(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Remove all lines from a cart; the response offers an undo."""
    idempotency_key = _idempotency_key(request)
    undo = _run_action(
        request,
        lambda person: operations.empty_cart(person, cart_id, idempotency_key, current_time()),
    )
    if undo:
        messages.success(request, _("%(name)s was emptied.") % {"name": undo.name})
    return _redirect_to_list(undo)


@post_only("cart:carts")
@owner_only
def delete_cart(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Delete a cart; the response offers an undo."""
    undo = _run_action(
        request, lambda person: operations.delete_cart(person, cart_id, current_time())
    )
    if undo:
        messages.success(request, _("%(name)s was deleted.") % {"name": undo.name})
    return _redirect_to_list(undo)


@post_only("cart:carts")
@owner_only
def undo_cart_change(request: HttpRequest) -> HttpResponse:
    """Undo the deletion, emptying or merge of a cart."""
    undo = parse_undo(request.POST.get("undo", ""))
    if undo is None:
        return _cart_list_page(request, refused=str(TOO_LATE), status=422)
    name = _run_action(
        request, lambda person: _UNDO_OPERATIONS[undo.action](person, undo, current_time())
    )
    if name:
        messages.success(request, _("%(name)s was restored.") % {"name": name})
    return redirect("cart:carts")


_UNDO_OPERATIONS: dict[str, Callable[[UUID, Undo, datetime], str]] = {
    "delete": operations.undelete_cart,
    "empty": operations.refill_cart,
    "merge": operations.unmerge_carts,
}


@get_or_post
@owner_only
def merge_carts(request: HttpRequest, cart_id: UUID) -> HttpResponse:
    """Show the preview of merging a cart into another one, and merge the carts on submit."""
    found = _require_access(request, cart_id, OWN)
    if request.method != "POST":
        return _merge_page(
            request, found, TargetCartForm(request.GET if "into" in request.GET else None)
        )
    form = TargetCartForm(request.POST)
    if not form.is_valid():
        return _merge_page(request, found, form, status=422)
    into, idempotency_key = form.cleaned_data["into"], _idempotency_key(request)
    target = _require_access(request, into, VIEW)
    try:
        undo = operations.merge_carts(
            _person_id(request),
            cart_id,
            into,
            idempotency_key,
            current_time(),
            guest=owner.is_guest(request),
        )
    except CartError as error:
        form.add_error("into", str(error))
        return _merge_page(request, found, form, status=422)
    messages.success(
        request,
        _("%(name)s was merged into %(target)s.") % {"name": undo.name, "target": target.name},
    )
    return _redirect_to_list(undo)


@get_or_post
@owner_only
def move_line(request: HttpRequest, cart_id: UUID, key: UUID) -> HttpResponse:
    """Move or copy a line into another cart."""
    found = _require_access(request, cart_id, VIEW)
    if request.method != "POST":
        return _move_page(request, found, key, TargetCartForm())
    form = TargetCartForm(request.POST)
    if not form.is_valid():
        return _move_page(request, found, key, form, status=422)
    into, idempotency_key, copy = (
        form.cleaned_data["into"],
        _idempotency_key(request),
        "copy" in request.POST,
    )
    _require_access(request, into, VIEW)
    try:
        moved = operations.move_line(
            _person_id(request),
            cart_id,
            into,
            str(key),
            idempotency_key,
            current_time(),
            copy=copy,
            guest=owner.is_guest(request),
        )
    except CartError as error:
        form.add_error("into", str(error))
        return _move_page(request, found, key, form, status=422)
    words = (
        _("%(count)s × %(name)s copied to %(target)s.")
        if copy
        else _("%(count)s × %(name)s moved to %(target)s.")
    )
    said = {"count": moved.quantity, "name": moved.label, "target": moved.target}
    messages.success(request, words % said)
    return redirect("cart:one", cart_id)


@post_only("cart:one", "cart_id")
@owner_only
def save_line_for_later(request: HttpRequest, cart_id: UUID, key: UUID) -> HttpResponse:
    """Save a line for later."""
    return _act_on_line(
        request,
        cart_id,
        key,
        operations.save_line_for_later,
        gettext_lazy("%(name)s was saved for later."),
    )


@post_only("cart:one", "cart_id")
@owner_only
def move_saved_line_to_cart(request: HttpRequest, cart_id: UUID, key: UUID) -> HttpResponse:
    """Put a line saved for later back into the cart."""
    return _act_on_line(
        request,
        cart_id,
        key,
        operations.move_saved_line_to_cart,
        gettext_lazy("%(name)s was moved to your cart."),
    )


@post_only("cart:one", "cart_id")
@owner_only
def remove_saved_line(request: HttpRequest, cart_id: UUID, key: UUID) -> HttpResponse:
    """Remove a line saved for later."""
    return _act_on_line(
        request, cart_id, key, operations.remove_saved_line, gettext_lazy("%(name)s was removed.")
    )


def _act_on_line(
    request: HttpRequest,
    cart_id: UUID,
    key: UUID,
    act: Callable[[UUID, UUID, str, UUID, datetime], operations.MoveResult | str],
    message: Promise,
) -> HttpResponse:
    idempotency_key = _idempotency_key(request)
    result = _run_action(
        request, lambda person: act(person, cart_id, str(key), idempotency_key, current_time())
    )
    if result:
        name = result if isinstance(result, str) else result.label
        messages.success(request, str(message) % {"name": name})
    return redirect("cart:one", cart_id)


def _cart_list_page(
    request: HttpRequest,
    *,
    undo: Undo | None = None,
    form: CartNameForm | None = None,
    refused: str = "",
    status: int = 200,
) -> HttpResponse:
    prefetch_categories()
    # This is probably the active cart; it is read in parallel with the list.
    expected_id = owner.get_last_active_cart_id(request)
    begun = {expected_id: prefetch_card(expected_id)} if expected_id else {}
    rows, owner_id = _rows(request), owner.get_owner_id(request)
    cards = list_cart_cards(owner_id, rows, begun) if owner_id else []
    context = {
        "cards": cards,
        "undo": undo,
        "form": form or CartNameForm(initial={"operation": uuid4()}),
        "cart_limit_message": limits.cart_limit_message(len(cards)),
        "full": len(cards) >= limits.MAX_CARTS,
        "refused": refused,
        "has_errors": bool(refused),
        "operation": uuid4(),
    }
    return render_page(request, "cart/carts.html", context, status=status)


def _rows(request: HttpRequest) -> list[Any]:
    """Return the rows of the person's list of carts, which were read for the header."""
    person_id = owner.get_owner_id(request)
    if person_id is None:
        return []
    rows: list[Any] = get_request_cart(request).prefetch_badge(person_id).first()
    # A member who may no longer sign in loses the session at this read.
    if not request.user.is_authenticated and owner.get_owner_id(request) != person_id:
        return _rows(request)
    return rows


def _list_targets(request: HttpRequest, source: Access) -> list[ListedCart]:
    """Return the other carts that the person may put lines into."""
    listed = queries.listed_carts_from_rows(_rows(request))
    return [cart for cart in listed if cart.cart_id != source.cart_id and cart.role != "viewer"]


def _merge_page(
    request: HttpRequest, found: Access, form: TargetCartForm, status: int = 200
) -> HttpResponse:
    """Show the possible target carts, or the preview once a target is chosen."""
    others = _list_targets(request, found)
    context: dict[str, Any] = {
        "access": found,
        "others": others,
        "form": form,
        "operation": uuid4(),
    }
    if form.is_bound and form.is_valid():
        into = form.cleaned_data["into"]
        target = next((each for each in others if each.cart_id == into), None)
        if target is None:
            raise Http404
        _require_access(
            request, into, VIEW
        )  # the list is a copy: the person's role in the target may have been withdrawn
        preview = preview_merge(
            queries.get_cart(found.cart_id, found.name), queries.get_cart(into, target.name)
        )
        context |= {"target": target, "preview": preview, "sums": _sum_merge(preview)}
    return render_page(request, "cart/merge.html", context, status=status)


def _sum_merge(preview: MergePreview) -> dict[str, Money]:
    """Return the sums of both carts (X123), and the sum of the merged cart."""
    products = get_products_with_stock(line.product_id for line in preview.merged.lines)
    carts = {"source": preview.source, "target": preview.target, "merged": preview.merged}
    return {name: sum_lines(price_lines(cart, products)) for name, cart in carts.items()}


def _move_page(
    request: HttpRequest, found: Access, key: UUID, form: TargetCartForm, status: int = 200
) -> HttpResponse:
    line = queries.get_line(found.cart_id, str(key))
    if line is None and status == 200:
        messages.error(request, str(NoSuchLine()))
        return redirect("cart:one", found.cart_id)
    others = _list_targets(request, found)
    context = {
        "access": found,
        "may_move": found.is_allowed(EDIT),
        "line": line,
        "others": others,
        "form": form,
        "chosen": form["into"].value() if form.is_bound else "",
        "operation": uuid4(),
    }
    return render_page(request, "cart/move.html", context, status=status)


def _run_action(request: HttpRequest, act: Callable[[UUID], T]) -> T | None:
    """Run an action for the visitor and return its result. A refusal becomes a message, and None is returned.

    Raises Http404 for another person's cart.
    """
    try:
        return act(_person_id(request))
    except NoSuchCart as error:
        raise Http404 from error
    except CartError as error:
        messages.error(request, str(error))
        return None


def _require_access(request: HttpRequest, cart_id: UUID, act: str) -> Access:
    try:
        return require_access(owner.get_owner_id(request), cart_id, act)
    except (NoSuchCart, NotAllowed) as error:
        raise Http404 from error


def _person_id(request: HttpRequest) -> UUID:
    person_id = owner.get_owner_id(request)
    if person_id is None:
        raise Http404
    return person_id


def _cart_id(request: HttpRequest) -> UUID:
    try:
        return UUID(request.POST.get("cart", ""))
    except ValueError as error:
        raise NoSuchCart from error


def _idempotency_key(request: HttpRequest) -> UUID:
    """Return the idempotency key of a button. It is made of the key that the forms of the page share."""
    form = IdempotencyForm(request.POST)
    form.full_clean()
    return uuid5(form.cleaned_data["operation"], request.path)


def _next_url(request: HttpRequest) -> str:
    """Return the URL of the page to show after a submit: the one that the form names on this site, or the list of carts."""
    to = request.POST.get("next", "")
    return to if is_own_page(to) else reverse("cart:carts")


def _redirect_to_list(undo: Undo | None) -> HttpResponse:
    query = f"?{urlencode({'undo': undo.token()})}" if undo else ""
    return HttpResponseRedirect(reverse("cart:carts") + query)
