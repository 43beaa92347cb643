"""The bell that refreshes itself, and the page behind the link that ends the mails of a kind."""

from http import HTTPStatus
from uuid import UUID

from django.contrib import messages
from django.contrib.auth import SESSION_KEY
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from mail.one_click import confirm_one_click, is_one_click
from notifications import queries
from notifications.kinds import get_kinds, stop_mails
from notifications.links import parse_unsubscribe_token
from web.decorators import get_or_post, owner_only
from web.rendering import is_asked_for_part, render_page, stop_refreshing, without_header


@require_safe
@without_header
@owner_only
def bell(request: HttpRequest) -> HttpResponse:
    """Return the bell's number if it differs from the one that a page shows. It costs one read beside the session's."""
    if not is_asked_for_part(request):
        return redirect("accounts:notifications")
    user_id = request.session.get(SESSION_KEY)
    if user_id is None:
        return stop_refreshing()
    count = queries.new_count_from_rows(queries.prefetch_new_count(UUID(user_id)).rows())
    if request.GET.get("shown") == str(count):
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render_page(request, "notifications/bell.html", {"new_count": count}, part="bell")


# A mail program has no CSRF token. The link's token protects this view.
@csrf_exempt
@get_or_post
@owner_only
def end_mails(request: HttpRequest, token: str) -> HttpResponse:
    """End the mails of a kind: from the page behind a mail's link, or by the mail program's button."""
    found = parse_unsubscribe_token(token)
    kinds = [get_kinds()[name] for name in found[1] if name in get_kinds()] if found else []
    if found is None or not kinds:
        return render_page(request, "notifications/mails_over.html", {}, status=410)
    if request.method != "POST":
        context = {"token": token, "kinds": [each.label for each in kinds]}
        return render_page(request, "notifications/mails_end.html", context)
    stop_mails(found[0], kinds)
    if is_one_click(request):
        return confirm_one_click()
    messages.success(request, _("You’ve unsubscribed. You’ll still find this news on our pages."))
    return redirect("home")
