"""A member's address book."""

from contextlib import suppress
from dataclasses import replace

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts import operations, queries
from accounts.access import member, personal
from accounts.addresses import Address
from accounts.errors import AddressBookFull, NoSuchAddress
from accounts.forms import AddressForm
from pricing import delivery
from web.methods import get_or_post, post_only
from web.rendering import render_page


@require_safe
@personal
def addresses(request: HttpRequest) -> HttpResponse:
    """Show a member's address book."""
    book = queries.addresses_of(member(request))
    context = {
        "addresses": book,
        "full": len(book) >= operations.MAX_ADDRESSES,
        "most": operations.MAX_ADDRESSES,
    }
    return render_page(request, "accounts/addresses.html", context)


@get_or_post
@personal
def address_add(request: HttpRequest) -> HttpResponse:
    """Add an address to the book."""
    user = member(request)
    form = _form(request) or AddressForm(
        initial={"name": user.name, "country": user.delivery_country or delivery.DEFAULT_COUNTRY}
    )
    if form.is_valid():
        try:
            operations.address_saved(user.pk, form.address(), default=form.cleaned_data["default"])
        except AddressBookFull as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The address is saved.")
            return redirect("accounts:addresses")
    return _page(request, form)


@get_or_post
@personal
def address_edit(request: HttpRequest, key: int) -> HttpResponse:
    """Change an address of the book."""
    user = member(request)
    stored = queries.address_of(user, str(key))
    if stored is None:
        raise Http404
    form = _form(request) or AddressForm.of(stored)
    if form.is_valid():
        changed = replace(form.address(), key=stored.key)
        try:
            operations.address_saved(user.pk, changed, default=form.cleaned_data["default"])
        except NoSuchAddress as error:
            raise Http404 from error
        messages.success(request, "The address is saved.")
        return redirect("accounts:addresses")
    return _page(request, form, stored)


def _form(request: HttpRequest) -> AddressForm | None:
    """The form that was sent: to be saved, or with another country chosen, whose fields are to be shown."""
    if request.method != "POST":
        return None
    return (
        AddressForm.typed(request.POST) if "update" in request.POST else AddressForm(request.POST)
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


@personal
@post_only("accounts:addresses")
def address_remove(request: HttpRequest, key: int) -> HttpResponse:
    """Take an address out of the book; taking it out twice is no error."""
    with suppress(NoSuchAddress):
        operations.address_removed(member(request).pk, str(key))
    messages.info(request, "The address is removed.")
    return redirect("accounts:addresses")
