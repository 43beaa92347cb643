"""A member's personal data: download and erasure."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import operations
from accounts.access import current_member, member_required
from accounts.errors import NoSuchUser
from accounts.forms import PasswordConfirmationForm
from accounts.login import log_out
from accounts.personal_data_file import answer_with_personal_data
from cassandra_db import current_time
from web import personal_data
from web.decorators import get_or_post, no_store, post_only, public
from web.rate_limits import hit_rate_limit
from web.rendering import render_page


@require_safe
@member_required
def privacy(request: HttpRequest) -> HttpResponse:
    """Show the page that describes a member's stored data, and offers the download and the erasure."""
    return render_page(
        request,
        "accounts/privacy.html",
        {"form": PasswordConfirmationForm(user=current_member(request))},
    )


@sensitive_post_parameters("password")
@member_required
@post_only("accounts:privacy")
def download_personal_data(request: HttpRequest) -> HttpResponse:
    """Ask for the password; then return all of the member's personal data as one file."""
    user = current_member(request)
    attempt, form = (
        hit_rate_limit(request, "password", str(user.pk)),
        PasswordConfirmationForm(request.POST, user=user),
    )
    if not form.is_valid():
        return render_page(request, "accounts/privacy.html", {"form": form}, status=422)
    attempt.release_slots()
    return answer_with_personal_data(user)


@sensitive_post_parameters("password")
@get_or_post
@member_required
def request_erasure(request: HttpRequest) -> HttpResponse:
    """Show which data is erased and which stays, and request the erasure when the password is entered."""
    user = current_member(request)
    obstacles = personal_data.list_erasure_obstacles(operations.person_from_user(user))
    attempt = (
        hit_rate_limit(request, "password", str(user.pk)) if request.method == "POST" else None
    )
    form = PasswordConfirmationForm(request.POST or None, user=user)
    if obstacles or not form.is_valid():
        context = {"form": form, "against": obstacles}
        return render_page(
            request, "accounts/privacy_erase.html", context, status=422 if form.is_bound else 200
        )
    if attempt:
        attempt.release_slots()
    try:
        operations.request_erasure(user.pk, current_time())
    except NoSuchUser:
        # An admin has just given the member a role: the page shows the obstacle.
        return redirect("accounts:erase")
    return log_out(request, "accounts:erased")


@require_safe
@no_store
@public
def erasure_done(request: HttpRequest) -> HttpResponse:
    """Show the page that confirms the request for erasure."""
    return render_page(request, "accounts/privacy_erased.html", {})
