"""A member's sessions and e-mail address."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import audit_log, known_devices, operations
from accounts.access import current_member, member_required
from accounts.errors import EmailTaken
from accounts.forms import EmailChangeForm
from accounts.login import log_out
from accounts.reauthentication import DEMO_LOGIN_STAYS, REAUTHENTICATION_FAILED, verify_password
from accounts.sessions import end_session, end_sessions, list_sessions
from cassandra_db import current_time
from web.decorators import get_or_post, post_only
from web.rate_limits import hit_rate_limit
from web.rendering import render_page


@require_safe
@member_required
def session_list(request: HttpRequest) -> HttpResponse:
    """Show the page that lists the browsers where a member is signed in."""
    found = list_sessions(current_member(request).pk, request.session.session_key)
    return render_page(
        request,
        "accounts/security.html",
        {"sessions": found, "others": sum(not each.is_current for each in found)},
    )


@get_or_post
@member_required
def end_one_session(request: HttpRequest) -> HttpResponse:
    """End one of a member's sessions, if it still exists."""
    if request.method == "POST":
        end_session(current_member(request).pk, request.POST.get("session", ""))
        audit_log.add_entry(
            "sessions_ended", current_time(), by=current_member(request).pk, outcome="done: one"
        )
        messages.success(request, _("That device is signed out."))
    return redirect("accounts:security")


@get_or_post
@member_required
def end_other_sessions(request: HttpRequest) -> HttpResponse:
    """End all of a member's sessions except this one."""
    if request.method == "POST":
        user = current_member(request)
        end_sessions(user.pk, except_key=request.session.session_key)
        audit_log.add_entry(
            "sessions_ended", current_time(), by=user.pk, outcome="done: all others"
        )
        messages.success(request, _("You’re signed out of all other devices."))
        return known_devices.renew_device_cookie(request, redirect("accounts:security"), user.pk)
    return redirect("accounts:security")


@member_required
@post_only("accounts:security")
def end_all_sessions(request: HttpRequest) -> HttpResponse:
    """End all of a member's sessions, including this one."""
    end_sessions(current_member(request).pk)
    audit_log.add_entry(
        "sessions_ended", current_time(), by=current_member(request).pk, outcome="done: all"
    )
    response = log_out(request, "accounts:login")
    messages.success(request, _("You’re signed out everywhere."))
    return response


@sensitive_post_parameters("current")
@get_or_post
@member_required(second_factor=True)
def request_email_change(request: HttpRequest) -> HttpResponse:
    """Ask for a new e-mail address and the password, and mail the confirmation link to the new address."""
    user = current_member(request)
    form = EmailChangeForm(request.POST or None, current_email=user.email)
    if form.is_valid():
        if user.demo:
            form.add_error(None, DEMO_LOGIN_STAYS)
        elif not verify_password(request, user, form.cleaned_data["current"]):
            form.add_error("current", REAUTHENTICATION_FAILED)
        else:
            new = form.cleaned_data["email"]
            # The limit counts for the asking member: a stranger must not block an address for its owner.
            hit_rate_limit(request, "registration", f"by {user.pk}")
            operations.request_email_change(user, new, current_time())
            messages.success(
                request,
                _("We’ve sent an email to your new address. Open the link in it within 24 hours."),
            )
            return redirect("accounts:profile")
    return render_page(
        request, "accounts/email.html", {"form": form}, status=422 if form.is_bound else 200
    )


@get_or_post
@member_required(second_factor=True)
def confirm_email_change(request: HttpRequest, token: str) -> HttpResponse:
    """Ask a member who follows the mailed link to confirm; change the e-mail address on submit."""
    user = current_member(request)
    new = operations.parse_email_change_token(token, user)
    if new is None or request.method != "POST":
        status = 410 if new is None else 200
        return render_page(request, "accounts/email_confirm.html", {"email": new}, status=status)
    try:
        operations.change_email(user, new, current_time())
    except EmailTaken:
        return render_page(
            request, "accounts/email_confirm.html", {"email": None, "taken": True}, status=409
        )
    end_sessions(user.pk, except_key=request.session.session_key)
    request.session.cycle_key()
    messages.success(
        request, _("Your email address was changed. We’ve also sent an email to your old address.")
    )
    return known_devices.renew_device_cookie(request, redirect("accounts:profile"), user.pk)
