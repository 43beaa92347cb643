"""Pages about the shop's technical state: Cassandra, the workers, and mail that cannot be delivered."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN, MAIL_STAFF, ORDER_STAFF
from adminpanel.forms import EmailForm
from adminpanel.system.pages import get_system_status
from adminpanel.system.workers import get_worker_status
from cassandra_db import current_time
from mail import fates
from mail.operations import allow_address
from mail.queries import FAILED_COUNTED_FOR, FAILED_SHOWN_FOR, get_mail_trouble
from web.decorators import post_only
from web.rendering import render_page


@staff_required((ADMIN,))
@require_safe
def system_status(request: HttpRequest) -> HttpResponse:
    """Show the nodes, large partitions, slow questions, jobs with problems, and the last consistency checks."""
    return render_page(
        request, "adminpanel/system/system.html", {"system": get_system_status(current_time())}
    )


@staff_required(ORDER_STAFF)
@require_safe
def worker_status(request: HttpRequest) -> HttpResponse:
    """Show the last run and the backlog of each job. With `problems`, show the jobs that need attention only."""
    context = {
        "workers": get_worker_status(current_time()),
        "only_problems": "problems" in request.GET,
    }
    return render_page(request, "adminpanel/system/worker.html", context)


@staff_required(MAIL_STAFF)
@require_safe
def mail_trouble(request: HttpRequest) -> HttpResponse:
    """Show the mails of the last 30 days, or 3, that failed for good, and the addresses that get no mail."""
    return _trouble_page(request)


@staff_required(MAIL_STAFF)
@post_only("adminpanel:mails")
def allow_mail(request: HttpRequest) -> HttpResponse:
    """Let an address that got no mail get mail in the future."""
    form = EmailForm(request.POST)
    if not form.is_valid():
        return _trouble_page(request, form, status=422)
    email = form.cleaned_data["email"]
    allow_address(email)
    messages.success(request, _("%(email)s gets emails again.") % {"email": email})
    return redirect("adminpanel:mails")


def _trouble_page(
    request: HttpRequest, form: EmailForm | None = None, status: int = 200
) -> HttpResponse:
    is_recent = request.GET.get("days") == str(FAILED_COUNTED_FOR)
    days = FAILED_COUNTED_FOR if is_recent else FAILED_SHOWN_FOR
    found = get_mail_trouble(current_time(), days)
    context: dict[str, Any] = {
        "trouble": found,
        "mails": [(mail, *fates.LABELS[fates.get_fate(mail)]) for mail in found.mails],
        "form": form or EmailForm(),
        "days": days,
        "is_recent": is_recent,
    }
    return render_page(request, "adminpanel/system/mails.html", context, status=status)
