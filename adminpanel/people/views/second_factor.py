"""Pages of the staff's second factor. Staff enrol a phone once, and enter a code at each login."""

import io
from typing import Any

import segno
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, resolve_url
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.errors import AlreadyEnrolled
from accounts.models import User
from accounts.second_factor import (
    enrol_second_factor,
    enrolment_secret,
    get_demo_code,
    get_second_factor,
    has_passed_second_factor,
    mark_second_factor_passed,
    provisioning_uri,
    renew_recovery_codes,
    use_recovery_code,
    verify_totp_code,
)
from adminpanel.code_again import WRONG_CODE, TotpCodeForm
from adminpanel.people.forms import RecoveryCodeForm
from adminpanel.side_bar import get_staff_home
from cassandra_db import current_time
from web.decorators import get_or_post, post_only
from web.own_pages import is_own_page
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, without_header

WRONG_RECOVERY = gettext_lazy("This isn’t one of your recovery codes, or it was already used.")


@sensitive_post_parameters("code")
@staff_required(second_factor=False)
@get_or_post
def second_factor(request: HttpRequest) -> HttpResponse:
    """Ask for a code. Enrol a phone if the user has none yet. Otherwise show the state of the second factor."""
    user = current_member(request)
    found = get_second_factor(user.pk)
    if found is None:
        return _enrolment(request, user)
    if has_passed_second_factor(request.session, user):
        if request.method == "POST":
            return redirect(_next_url(request))
        return render_page(
            request, "adminpanel/people/own_factor.html", {"factor": found, "form": TotpCodeForm()}
        )
    if request.method != "POST":
        return _ask_for_code(
            request, user, _form(request)(initial={"next": request.GET.get("next", "")})
        )
    return _check_code(request, user)


def _check_code(request: HttpRequest, user: User) -> HttpResponse:
    form = _form(request)(request.POST)
    if not form.is_valid():
        return _ask_for_code(request, user, form)
    attempt = hit_rate_limit(request, "code", str(user.pk))
    code = form.cleaned_data["code"]
    if isinstance(form, RecoveryCodeForm):
        right = use_recovery_code(user.pk, code)
    else:
        right = verify_totp_code(user.pk, code, current_time())
    if not right:
        form.add_error("code", WRONG_RECOVERY if isinstance(form, RecoveryCodeForm) else WRONG_CODE)
        return _ask_for_code(request, user, form)
    attempt.release_slots()
    mark_second_factor_passed(request.session, user)
    return redirect(_next_url(request))


def _form(request: HttpRequest) -> type[TotpCodeForm] | type[RecoveryCodeForm]:
    query = request.POST if request.method == "POST" else request.GET
    return RecoveryCodeForm if query.get("way") == "recovery" else TotpCodeForm


def _ask_for_code(
    request: HttpRequest, user: User, form: TotpCodeForm | RecoveryCodeForm
) -> HttpResponse:
    is_recovery, status = isinstance(form, RecoveryCodeForm), 422 if form.is_bound else 200
    context = {"form": form, "recovery": is_recovery, **_for_demo(user, form)}
    return render_page(request, "adminpanel/people/second_factor.html", context, status=status)


def _enrolment(request: HttpRequest, user: User) -> HttpResponse:
    form = TotpCodeForm(request.POST or None, initial={"next": request.GET.get("next", "")})
    secret = enrolment_secret(request.session.session_key or "", user)
    if form.is_valid():
        attempt = hit_rate_limit(request, "code", str(user.pk))
        try:
            codes = enrol_second_factor(user, secret, form.cleaned_data["code"], current_time())
        except AlreadyEnrolled:
            # The user enrolled a phone in another window a moment ago.
            return redirect(settings.SECOND_FACTOR_URL)
        if codes:
            attempt.release_slots()
            mark_second_factor_passed(request.session, user)
            return _codes(request, codes, _next_url(request))
        form.add_error("code", _("This code is wrong. Enter the one that your app shows now."))
    spaced = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4))
    context = {"form": form, "secret": spaced, **_for_demo(user, form)}
    return render_page(
        request, "adminpanel/people/enrol.html", context, status=422 if form.is_bound else 200
    )


def _for_demo(user: User, form: TotpCodeForm | RecoveryCodeForm) -> dict[str, Any]:
    """Return the context for staff of the demo shop: their code, which is filled in if it is already valid."""
    code, wait = get_demo_code(user, current_time())
    if code and not wait and isinstance(form, TotpCodeForm):
        form.initial["code"] = code
    return {"demo_code": code, "demo_wait": wait}


@staff_required(second_factor=False)
@require_safe
@without_header
def second_factor_qr_code(request: HttpRequest) -> HttpResponse:
    """Draw the QR code for enrolment. It is never cached. Once a phone is enrolled, the answer is 404."""
    user = current_member(request)
    if get_second_factor(user.pk):
        raise Http404
    address = provisioning_uri(enrolment_secret(request.session.session_key or "", user), user)
    drawn = io.BytesIO()
    look = {"scale": 8, "dark": "#000", "light": "#fff"}
    bare = {"xmldecl": False, "svgclass": None, "lineclass": None, "nl": False}
    segno.make(address, micro=False).save(drawn, kind="svg", **look, **bare)
    return HttpResponse(drawn.getvalue(), content_type="image/svg+xml")


@sensitive_post_parameters("code")
@staff_required()
@post_only("adminpanel:second_factor")
def create_recovery_codes(request: HttpRequest) -> HttpResponse:
    """Replace the recovery codes of a user who enters a code. Show the new codes this one time only."""
    user, form = current_member(request), TotpCodeForm(request.POST)
    if form.is_valid():
        attempt = hit_rate_limit(request, "code", str(user.pk))
        if codes := renew_recovery_codes(user.pk, form.cleaned_data["code"], current_time()):
            attempt.release_slots()
            return _codes(request, codes, resolve_url(settings.SECOND_FACTOR_URL))
        form.add_error("code", WRONG_CODE)
    context = {"factor": get_second_factor(user.pk), "form": form}
    return render_page(request, "adminpanel/people/own_factor.html", context, status=422)


def _codes(request: HttpRequest, codes: list[str], to: str) -> HttpResponse:
    # Only this answer can show the new codes.
    context = {"codes": codes, "to": to, "now": current_time()}
    return render_page(request, "adminpanel/people/recovery_codes.html", context)


def _next_url(request: HttpRequest) -> str:
    """Return the requested address if it is on this site, or else that of Home."""
    to = request.POST.get("next", "")
    return to if is_own_page(to) else get_staff_home()
