"""Registration."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import audit_log, known_devices, operations, queries
from accounts.errors import EmailTaken
from accounts.forms import FinishRegistrationForm, RegisterForm
from accounts.login import log_in
from cassandra_db import current_time
from web.decorators import get_or_post, no_store, public
from web.errors import TooManyAttempts
from web.rendering import render_page, render_too_many_attempts


@get_or_post
@no_store
@public
def register(request: HttpRequest) -> HttpResponse:
    """Ask for an e-mail address, and mail it a registration link. The response is the same for every address."""
    form = RegisterForm(request.POST or None)
    if form.is_valid():
        email = form.cleaned_data["email"]
        try:
            known_devices.hit_email_limit(request, "registration", email)
        except TooManyAttempts as error:
            return render_too_many_attempts(
                request, error, "accounts/register.html", {"form": form}
            )
        operations.request_registration(email, current_time())
        return redirect("accounts:sent")
    return render_page(
        request, "accounts/register.html", {"form": form}, status=422 if form.is_bound else 200
    )


@require_safe
@no_store
@public
def registration_sent(request: HttpRequest) -> HttpResponse:
    """Show the page that says that the mail with the link is on its way."""
    return render_page(request, "accounts/sent.html", {})


@sensitive_post_parameters("password")
@get_or_post
@no_store
@public
def finish_registration(request: HttpRequest, token: str) -> HttpResponse:
    """Ask a visitor who follows the mailed link for name and password; then create the account and log them in."""
    meant = operations.parse_registration_token(token)
    if meant is None:
        return render_page(request, "accounts/link_over.html", {}, status=410)
    email, role = meant
    if queries.find_user_by_email(email):
        return render_page(request, "accounts/link_used.html", {})
    form = FinishRegistrationForm(request.POST or None, email=email)
    if not form.is_valid():
        context = {"form": form, "email": email}
        return render_page(
            request, "accounts/finish.html", context, status=422 if form.is_bound else 200
        )
    name, password = form.cleaned_data["name"], form.cleaned_data["password"]
    try:
        user = operations.register_user(email, name, password, current_time(), role, verified=True)
    except EmailTaken:
        return render_page(request, "accounts/link_used.html", {})
    audit_log.add_entry("registered", current_time(), by=user.pk)
    messages.success(request, _("Welcome. Your account is ready."))
    return log_in(request, user, "")
