"""The page of the audit log. Nobody can change the log there."""

from datetime import date, timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.people import audit_labels
from adminpanel.people.forms import AuditLogForm
from cassandra_db import InvalidPageToken, current_time
from web.rendering import render_page


@staff_required((ADMIN,))
@require_safe
def audit_log_page(request: HttpRequest) -> HttpResponse:
    """Show the audit log: the entries of a day, or the entries of one user in a month."""
    today = current_time().date()
    form = AuditLogForm(request.GET)
    book, day, who, after = form.parse_selection(today)
    if form.is_refused:
        context = {"form": form, "day": day}
        return render_page(request, "adminpanel/people/log.html", context, status=422)
    try:
        if who:
            page = audit_labels.get_actor_page(who, day, after)
        else:
            page = audit_labels.get_day_page(book, day, after)
    except InvalidPageToken:
        return redirect(f"{reverse('adminpanel:log')}?book={book}&day={day}")
    context = {
        "journal": page,
        "form": AuditLogForm(initial={"book": book, "day": day}),
        "day": day,
        "earlier": day.replace(day=1) - timedelta(days=1) if who else day - timedelta(days=1),
        "later": _later(day, today, by_month=bool(who)),
    }
    return render_page(request, "adminpanel/people/log.html", context)


def _later(day: date, today: date, *, by_month: bool) -> date | None:
    following = day + timedelta(days=1)
    if by_month:
        following = (day.replace(day=28) + timedelta(days=4)).replace(day=1)
    return following if following <= today else None
