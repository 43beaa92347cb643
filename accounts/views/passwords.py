"""Changing and resetting passwords."""

from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import known_devices, operations
from accounts.access import current_member, member_required
from accounts.errors import AccountChanged
from accounts.forms import NewPasswordForm, PasswordChangeForm, PasswordResetForm
from accounts.models import User
from accounts.reauthentication import DEMO_LOGIN_STAYS, REAUTHENTICATION_FAILED, verify_password
from cassandra_db import current_time
from web.decorators import get_or_post, no_store, public
from web.errors import TooManyAttempts
from web.rendering import render_page, render_too_many_attempts


@sensitive_post_parameters("current", "password")
@get_or_post
@member_required(second_factor=True)
def change_password(request: HttpRequest) -> HttpResponse:
    """Show the form for a new password, and change it on submit. All other sessions end, and this one gets a new key."""
    user = current_member(request)
    form = PasswordChangeForm(request.POST or None, email=user.email)
    if form.is_valid() and _try_change(request, user, form):
        messages.success(
            request, _("Your password was changed. You’re signed out on all your other devices.")
        )
        return known_devices.renew_device_cookie(request, redirect("accounts:security"), user.pk)
    return render_page(
        request, "accounts/password.html", {"form": form}, status=422 if form.is_bound else 200
    )


def _try_change(request: HttpRequest, user: User, form: PasswordChangeForm) -> bool:
    if user.demo:
        form.add_error(None, DEMO_LOGIN_STAYS)
    elif not verify_password(request, user, form.cleaned_data["current"]):
        form.add_error("current", REAUTHENTICATION_FAILED)
    else:
        try:
            changed = operations.change_password(
                user,
                form.cleaned_data["password"],
                current_time(),
                current_session_key=request.session.session_key,
            )
        except AccountChanged:
            form.add_error(
                None,
                _("Your password was just changed in another window. Nothing was changed here."),
            )
        else:
            update_session_auth_hash(request, changed)
            return True
    return False


@get_or_post
@no_store
@public
def request_password_reset(request: HttpRequest) -> HttpResponse:
    """Ask for an e-mail address, and mail it a reset link. The response is the same for every address."""
    form = PasswordResetForm(request.POST or None)
    if form.is_valid():
        email = form.cleaned_data["email"]
        try:
            known_devices.hit_email_limit(request, "reset", email)
        except TooManyAttempts as error:
            return render_too_many_attempts(request, error, "accounts/reset.html", {"form": form})
        operations.request_password_reset(email, current_time())
        return redirect("accounts:reset_sent")
    return render_page(
        request, "accounts/reset.html", {"form": form}, status=422 if form.is_bound else 200
    )


@require_safe
@no_store
@public
def password_reset_sent(request: HttpRequest) -> HttpResponse:
    """Show the page that says that the mail with the link is on its way."""
    return render_page(request, "accounts/reset_sent.html", {})


@sensitive_post_parameters("password")
@get_or_post
@no_store
@public
def reset_password(request: HttpRequest, token: str) -> HttpResponse:
    """Let a user who follows the mailed link choose a new password. A link works once."""
    user = operations.get_user_by_reset_token(token)
    form = NewPasswordForm(request.POST or None, email=user.email if user else "")
    if user is not None and form.is_valid():
        try:
            operations.reset_password(user, form.cleaned_data["password"], current_time())
        except AccountChanged:
            user = None
        else:
            messages.success(
                request, _("Your password was changed. Sign in with your new password.")
            )
            return redirect("accounts:login")
    if user is None:
        return _limit_referrer(render_page(request, "accounts/reset_over.html", {}, status=410))
    context = {"form": form, "email": user.email}
    return _limit_referrer(
        render_page(
            request, "accounts/reset_finish.html", context, status=422 if form.is_bound else 200
        )
    )


def _limit_referrer(response: HttpResponse) -> HttpResponse:
    """Keep the page's URL, which is a key, out of the Referer header."""
    # "no-referrer" would also blank the Origin header, which the CSRF check needs.
    response["Referrer-Policy"] = "strict-origin"
    return response
