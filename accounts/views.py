"""Becoming a member, coming and going, profile and address book."""

from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from django.conf import settings
from django.contrib import auth, messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import demo, operations, queries
from accounts.access import member, personal
from accounts.errors import AddressBookFull, EmailTaken, NoSuchAddress
from accounts.forms import AddressForm, FinishForm, LoginForm, ProfileForm, RegisterForm
from accounts.models import User
from cart.operations import carts_adopted
from cart.owner import forget_guest, guest_of
from web.methods import get_or_post
from web.rendering import page


@get_or_post
@never_cache
def register(request: HttpRequest) -> HttpResponse:
    """Ask for an e-mail address, and send it a link; the answer is the same for every address."""
    form = RegisterForm(request.POST or None)
    if form.is_valid():
        email = form.cleaned_data["email"]
        operations.registration_asked(email, datetime.now(UTC))
        messages.info(request, f"A mail is on its way to {email}.")
        return redirect("accounts:sent")
    return page(request, "accounts/register.html", {"form": form}, status=422 if form.is_bound else 200)


@require_safe
@never_cache
def sent(request: HttpRequest) -> HttpResponse:
    """Tell that a mail is on its way."""
    return page(request, "accounts/sent.html", {})


@sensitive_post_parameters("password")
@get_or_post
@never_cache
def finish(request: HttpRequest, token: str) -> HttpResponse:
    """Make the account of whoever follows the mailed link, and log in."""
    meant = operations.registration_meant(token)
    if meant is None:
        return page(request, "accounts/link_over.html", {}, status=410)
    email, role = meant
    if queries.user_by_email(email):
        return page(request, "accounts/link_used.html", {})
    form = FinishForm(request.POST or None, email=email)
    if not form.is_valid():
        context = {"form": form, "email": email}
        return page(request, "accounts/finish.html", context, status=422 if form.is_bound else 200)
    name, password = form.cleaned_data["name"], form.cleaned_data["password"]
    try:
        user = operations.user_registered(email, name, password, datetime.now(UTC), role)
    except EmailTaken:
        return page(request, "accounts/link_used.html", {})
    messages.success(request, f"Welcome, {user.name}. Your account is ready.")
    return _logged_in(request, user, "")


@sensitive_post_parameters("password")
@get_or_post
@never_cache
def login(request: HttpRequest) -> HttpResponse:
    """Log in by e-mail address and password."""
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(_next(request, request.GET.get("next", "")))
        return _login_page(request, LoginForm(initial={"next": request.GET.get("next", "")}))
    form = LoginForm(request.POST)
    if not form.is_valid():
        return _login_page(request, form)
    user = auth.authenticate(request, username=form.cleaned_data["email"], password=form.cleaned_data["password"])
    if not isinstance(user, User):
        form.add_error(None, "This e-mail address and this password do not belong together. Check both, and try again.")
        return _login_page(request, form)
    return _logged_in(request, user, form.cleaned_data["next"])


def _login_page(request: HttpRequest, form: LoginForm) -> HttpResponse:
    context = {"form": form, "demo_logins": demo.LOGINS if settings.SHOWROOM else ()}
    return page(request, "accounts/login.html", context, status=422 if form.is_bound else 200)


def _logged_in(request: HttpRequest, user: User, to: str) -> HttpResponse:
    """Bring a guest's carts along, start a session with a key of its own, and go on."""
    guest_id = guest_of(request)
    adopted = carts_adopted(guest_id, user.pk, datetime.now(UTC)) if guest_id else None
    auth.login(request, user)
    response = HttpResponseRedirect(_next(request, to))
    if adopted and not adopted.left:
        forget_guest(response)
    return response


def _next(request: HttpRequest, to: str) -> str:
    """Return where to go after logging in: a page of this site, or the profile."""
    if to.startswith("/") and url_has_allowed_host_and_scheme(
        to, {request.get_host()}, require_https=request.is_secure()
    ):
        return to
    return resolve_url(settings.LOGIN_REDIRECT_URL)


@get_or_post
@never_cache
def logout(request: HttpRequest) -> HttpResponse:
    """End the session, by a press of a button and never by a link."""
    if request.method != "POST":
        return page(request, "accounts/logout.html", {})
    auth.logout(request)
    messages.info(request, "You have signed out.")
    return redirect("home")


@get_or_post
@personal
def profile(request: HttpRequest) -> HttpResponse:
    """Show a member's details, and change the name."""
    user = member(request)
    form = ProfileForm(request.POST or None, initial={"name": user.name})
    if form.is_valid():
        operations.profile_saved(user.pk, form.cleaned_data["name"])
        messages.success(request, "Your name is saved.")
        return redirect("accounts:profile")
    return page(request, "accounts/profile.html", {"form": form}, status=422 if form.is_bound else 200)


@require_safe
@personal
def addresses(request: HttpRequest) -> HttpResponse:
    """Show a member's address book."""
    book = queries.addresses_of(member(request))
    context = {"addresses": book, "full": len(book) >= operations.MAX_ADDRESSES, "most": operations.MAX_ADDRESSES}
    return page(request, "accounts/addresses.html", context)


@get_or_post
@personal
def address_add(request: HttpRequest) -> HttpResponse:
    """Add an address to the book."""
    user = member(request)
    form = AddressForm(request.POST or None, initial={"name": user.name, "country": "DE"})
    if form.is_valid():
        try:
            operations.address_saved(user.pk, form.address(), default=form.cleaned_data["default"])
        except AddressBookFull as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, "The address is saved.")
            return redirect("accounts:addresses")
    return page(request, "accounts/address.html", {"form": form}, status=422 if form.is_bound else 200)


@get_or_post
@personal
def address_edit(request: HttpRequest, key: int) -> HttpResponse:
    """Change an address of the book."""
    user = member(request)
    stored = queries.address_of(user, str(key))
    if stored is None:
        raise Http404
    form = AddressForm(request.POST) if request.method == "POST" else AddressForm.of(stored)
    if form.is_valid():
        changed = replace(form.address(), key=stored.key)
        try:
            operations.address_saved(user.pk, changed, default=form.cleaned_data["default"])
        except NoSuchAddress as error:
            raise Http404 from error
        messages.success(request, "The address is saved.")
        return redirect("accounts:addresses")
    context = {"form": form, "address": stored}
    return page(request, "accounts/address.html", context, status=422 if form.is_bound else 200)


@get_or_post
@personal
def address_remove(request: HttpRequest, key: int) -> HttpResponse:
    """Take an address out of the book; taking it out twice is no error."""
    if request.method != "POST":
        return redirect("accounts:addresses")
    with suppress(NoSuchAddress):
        operations.address_removed(member(request).pk, str(key))
    messages.info(request, "The address is removed.")
    return redirect("accounts:addresses")
