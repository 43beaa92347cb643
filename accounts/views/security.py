"""Where a member is signed in, and with which e-mail address."""

from datetime import UTC, datetime

from django.contrib import auth, messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import audit, known_devices, operations
from accounts.access import member, personal, personal_keys
from accounts.errors import EmailTaken
from accounts.forms import EmailForm
from accounts.reauthentication import DEMO, WRONG, knows
from accounts.sessions import session_ended, sessions_ended, sessions_of
from web.limits import hit_rate_limit
from web.methods import get_or_post, post_only
from web.rendering import render_page


@require_safe
@personal
def sessions(request: HttpRequest) -> HttpResponse:
    """Show where a member is signed in."""
    found = sessions_of(member(request).pk, request.session.session_key)
    return render_page(
        request,
        "accounts/security.html",
        {"sessions": found, "others": sum(not each.here for each in found)},
    )


@get_or_post
@personal
def session_end(request: HttpRequest) -> HttpResponse:
    """End one of a member's sessions; ending it twice is no error."""
    if request.method == "POST":
        session_ended(member(request).pk, request.POST.get("session", ""))
        audit.noted("sessions_ended", datetime.now(UTC), by=member(request).pk, outcome="done: one")
        messages.success(request, "You are signed out there.")
    return redirect("accounts:security")


@get_or_post
@personal
def sessions_end_others(request: HttpRequest) -> HttpResponse:
    """End all of a member's sessions but this one."""
    if request.method == "POST":
        user = member(request)
        sessions_ended(user.pk, but=request.session.session_key)
        audit.noted("sessions_ended", datetime.now(UTC), by=user.pk, outcome="done: all others")
        messages.success(request, "You are signed out everywhere else.")
        return known_devices.remembered(request, redirect("accounts:security"), user.pk)
    return redirect("accounts:security")


@personal
@post_only("accounts:security")
def sessions_end_all(request: HttpRequest) -> HttpResponse:
    """End all of a member's sessions, also this one."""
    sessions_ended(member(request).pk)
    audit.noted("sessions_ended", datetime.now(UTC), by=member(request).pk, outcome="done: all")
    auth.logout(request)
    messages.success(request, "You are signed out everywhere.")
    return redirect("accounts:login")


@sensitive_post_parameters("current")
@get_or_post
@personal_keys
def email(request: HttpRequest) -> HttpResponse:
    """Ask for another e-mail address and the password, and send the link that confirms it there."""
    user = member(request)
    form = EmailForm(request.POST or None, present=user.email)
    if form.is_valid():
        if user.demo:
            form.add_error(None, DEMO)
        elif not knows(request, user, form.cleaned_data["current"]):
            form.add_error("current", WRONG)
        else:
            new = form.cleaned_data["email"]
            # By who asks: a stranger who asks for the address must keep nobody from it.
            hit_rate_limit(request, "registration", f"by {user.pk}")
            operations.email_change_asked(user, new, datetime.now(UTC))
            messages.success(
                request, f"A mail is on its way to {new}. Follow its link within 24 hours."
            )
            return redirect("accounts:profile")
    return render_page(
        request, "accounts/email.html", {"form": form}, status=422 if form.is_bound else 200
    )


@get_or_post
@personal_keys
def email_confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Move the account of the member who follows the mailed link to the new address, by a press of a button."""
    user = member(request)
    new = operations.email_change_meant(token, user)
    if new is None or request.method != "POST":
        status = 410 if new is None else 200
        return render_page(request, "accounts/email_confirm.html", {"email": new}, status=status)
    try:
        operations.email_changed(user, new, datetime.now(UTC))
    except EmailTaken:
        return render_page(
            request, "accounts/email_confirm.html", {"email": None, "taken": True}, status=409
        )
    sessions_ended(user.pk, but=request.session.session_key)
    request.session.cycle_key()
    messages.success(request, f"Your e-mail address is {new} now. We have told the old one, too.")
    return known_devices.remembered(request, redirect("accounts:profile"), user.pk)
