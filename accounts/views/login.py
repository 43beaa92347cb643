"""Login and logout."""

from typing import Any

from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters

from accounts import audit_log, demo_logins
from accounts.access import current_member
from accounts.forms import LoginForm
from accounts.login import log_in, log_out, next_url
from accounts.models import User
from cassandra_db import current_time
from web.decorators import get_or_post, no_store, public
from web.errors import TooManyAttempts
from web.rendering import render_page, render_too_many_attempts


@sensitive_post_parameters("password")
@get_or_post
@no_store
@public
def login(request: HttpRequest) -> HttpResponse:
    """Show the login form, and log in by e-mail address and password on submit."""
    if request.method != "POST":
        if request.user.is_authenticated:
            return HttpResponseRedirect(next_url(request.GET.get("next", "")))
        return _login_page(request, LoginForm(initial={"next": request.GET.get("next", "")}))
    form = LoginForm(request.POST)
    if not form.is_valid():
        return _login_page(request, form)
    try:
        user = auth.authenticate(
            request, username=form.cleaned_data["email"], password=form.cleaned_data["password"]
        )
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, "accounts/login.html", _context(form))
    if not isinstance(user, User):
        # Above the limit of the whole shop the alarm is enough: many guessers must not fill the audit log.
        if not getattr(request, "is_above_login_limit", False):
            # Known and unknown addresses are logged in the same way, as a pseudonym.
            audit_log.add_entry(
                "login_failed",
                current_time(),
                subject=audit_log.mailbox_pseudonym(form.cleaned_data["email"]),
                outcome="refused",
            )
        form.add_error(None, _("The email address or password is wrong. Check both and try again."))
        return _login_page(request, form)
    return log_in(request, user, form.cleaned_data["next"])


def _login_page(request: HttpRequest, form: LoginForm) -> HttpResponse:
    return render_page(
        request, "accounts/login.html", _context(form), status=422 if form.is_bound else 200
    )


def _context(form: LoginForm) -> dict[str, Any]:
    return {"form": form, "demo_logins": demo_logins.list_demo_logins()}


@get_or_post
@no_store
@public
def logout(request: HttpRequest) -> HttpResponse:
    """Log out by a submit; a link must not end the session."""
    if request.method != "POST":
        return render_page(request, "accounts/logout.html", {})
    if request.user.is_authenticated:
        audit_log.add_entry("logout", current_time(), by=current_member(request).pk)
    response = log_out(request, "home")
    messages.info(request, _("You’ve signed out."))
    return response
