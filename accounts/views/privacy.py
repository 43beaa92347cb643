"""What the shop holds about a member, to take along or to be erased."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import cast

from django.contrib import auth
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import operations
from accounts.access import member, personal
from accounts.errors import NoSuchUser
from accounts.forms import AgainForm
from accounts.models import User
from web import personal as people
from web.limits import hit_rate_limit
from web.methods import get_or_post, post_only, public
from web.rendering import render_page


@require_safe
@personal
def privacy(request: HttpRequest) -> HttpResponse:
    """Tell what is held, and offer to take it along or to have it erased."""
    return render_page(request, "accounts/privacy.html", {"form": AgainForm(user=member(request))})


@sensitive_post_parameters("password")
@personal
@post_only("accounts:privacy")
def export(request: HttpRequest) -> HttpResponse:
    """Hand out all that is held, as one file, once the password was given again."""
    user = member(request)
    attempt, form = (
        hit_rate_limit(request, "password", str(user.pk)),
        AgainForm(request.POST, user=user),
    )
    if not form.is_valid():
        return render_page(request, "accounts/privacy.html", {"form": form}, status=422)
    attempt.release_slots()
    answer = StreamingHttpResponse(_file(user), content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = (
        f'attachment; filename="stoa-data-{timezone.localdate():%Y-%m-%d}.json"'
    )
    return cast(HttpResponse, answer)  # Django's two kinds of answers share no type that says so


def _file(user: User) -> Iterator[str]:
    """Yield the file room by room: a person with many orders does not fit into one answer's memory."""
    encoder = people.PersonalDataEncoder(indent=1, ensure_ascii=False)
    yield f'{{"shop": "Stoa", "made_at": {json.dumps(datetime.now(UTC).isoformat())}'
    for room, held in people.export_personal_data(operations.person_of(user)):
        yield f",\n{json.dumps(room)}: "
        yield from encoder.iterencode(held)
    yield "}\n"


@sensitive_post_parameters("password")
@get_or_post
@personal
def erase(request: HttpRequest) -> HttpResponse:
    """Say what goes and what stays; and, once the password was given again, let the account go."""
    user = member(request)
    against = people.list_erasure_obstacles(operations.person_of(user))
    attempt = (
        hit_rate_limit(request, "password", str(user.pk)) if request.method == "POST" else None
    )
    form = AgainForm(request.POST or None, user=user)
    if against or not form.is_valid():
        context = {"form": form, "against": against}
        return render_page(
            request, "accounts/privacy_erase.html", context, status=422 if form.is_bound else 200
        )
    if attempt:
        attempt.release_slots()
    try:
        operations.erasure_asked(user.pk, datetime.now(UTC))
    except NoSuchUser:
        # Somebody has given them a role in this very moment: the page says what is against it now.
        return redirect("accounts:erase")
    auth.logout(request)
    return redirect("accounts:erased")


@require_safe
@never_cache
@public
def erased(request: HttpRequest) -> HttpResponse:
    """Say goodbye."""
    return render_page(request, "accounts/privacy_erased.html", {})
