"""The views of a member's address book."""

from contextlib import suppress
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts import operations, queries
from accounts.access import current_member, member_required
from accounts.addresses import Address
from accounts.errors import AddressBookFull, NoSuchAddress
from accounts.forms import AddressForm
from pricing import delivery
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@require_safe
@member_required
def address_list(request: HttpRequest) -> HttpResponse:
    """Show a member's address book."""
    book = queries.list_addresses(current_member(request))
    context = {
        "addresses": book,
        "full": len(book) >= operations.MAX_ADDRESSES,
        "most": operations.MAX_ADDRESSES,
    }
    return render_page(request, "accounts/addresses.html", context)


@get_or_post
@member_required
def add_address(request: HttpRequest) -> HttpResponse:
    """Show the form for a new address, and add it to the member's address book on submit."""
    user = current_member(request)
    form = _form(request) or AddressForm(
        initial={
            "name": user.name,
            "country": user.delivery_country or delivery.get_default_country(),
        }
    )
    if form.is_valid():
        try:
            operations.save_address(
                user.pk, form.cleaned_address(), default=form.cleaned_data["default"]
            )
        except AddressBookFull as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("Address saved."))
            return redirect("accounts:addresses")
    return _page(request, form)


@get_or_post
@member_required
def edit_address(request: HttpRequest, key: int) -> HttpResponse:
    """Show the form for an address of the book, and change the address on submit."""
    user = current_member(request)
    stored = queries.get_address(user, str(key))
    if stored is None:
        raise Http404
    form = _form(request) or AddressForm.from_address(stored)
    if form.is_valid():
        changed = replace(form.cleaned_address(), key=stored.key)
        try:
            operations.save_address(user.pk, changed, default=form.cleaned_data["default"])
        except NoSuchAddress as error:
            raise Http404 from error
        messages.success(request, _("Address saved."))
        return redirect("accounts:addresses")
    return _page(request, form, stored)


def _form(request: HttpRequest) -> AddressForm | None:
    """Return the form of a POST request: to be saved, or without errors to show another country's fields. Return None for a GET."""
    if request.method != "POST":
        return None
    return (
        AddressForm.from_input(request.POST)
        if "update" in request.POST
        else AddressForm(request.POST)
    )


def _page(request: HttpRequest, form: AddressForm, stored: Address | None = None) -> HttpResponse:
    context = {"form": form, "address": stored}
    status = 422 if form.is_bound else 200
    return render_page(
        request,
        "accounts/address.html",
        context,
        part="fields" if not form.is_bound else "",
        status=status,
    )


@member_required
@post_only("accounts:addresses")
def remove_address(request: HttpRequest, key: int) -> HttpResponse:
    """Remove an address from the member's address book, if it is still there."""
    with suppress(NoSuchAddress):
        operations.remove_address(current_member(request).pk, str(key))
    messages.info(request, _("Address removed."))
    return redirect("accounts:addresses")
