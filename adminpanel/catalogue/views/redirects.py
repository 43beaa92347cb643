"""The page of redirects from addresses of a former shop, and of the addresses that were not found."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from cassandra_db import current_time
from catalogue.missing_addresses import list_missing
from catalogue.old_addresses import normalize_path
from catalogue.operations import redirects as operations
from spreadsheets.redirects import TOO_MANY, RedirectForm
from web.decorators import post_only
from web.rendering import render_page

PAGE_LENGTH = 50
MAX_MISSING = 25


@staff_required(CATALOGUE_STAFF)
@require_safe
def redirect_list(request: HttpRequest) -> HttpResponse:
    """List the redirects by path, and the addresses that were not found. A form adds one; the address may name its old address."""
    old = normalize_path(request.GET.get("old", ""))
    return _render_list(request, RedirectForm(initial={"old_address": old}))


def _render_list(request: HttpRequest, form: RedirectForm, status: int = 200) -> HttpResponse:
    after = normalize_path(request.GET.get("after", ""))
    found = operations.list_redirects(after, PAGE_LENGTH + 1)
    shown = found[:PAGE_LENGTH]
    missing = list_missing(current_time(), MAX_MISSING)
    reading = {path: operations.prefetch_redirect(path) for path, _count in missing}
    context = {
        "redirects": shown,
        "after": after,
        "next": shown[-1].path if len(found) > PAGE_LENGTH else "",
        "missing": [(path, count) for path, count in missing if not reading[path].one()],
        "form": form,
    }
    return render_page(request, "adminpanel/catalogue/redirects.html", context, status=status)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:redirects")
def save_redirect(request: HttpRequest) -> HttpResponse:
    """Add a redirect, or change the one of its old address."""
    form = RedirectForm(request.POST)
    if not form.is_valid():
        return _render_list(request, form, 422)
    made, former = form.cleaned_data["redirect"], form.cleaned_data["former"]
    if former is None and operations.is_full(made.path):
        form.add_error("old_address", str(TOO_MANY))
        return _render_list(request, form, 422)
    operations.save_redirect(made, current_time())
    before = former.target if former else ""
    note_changes(request, {made.path: before}, {made.path: made.target})
    messages.success(request, _("%(path)s redirects to its new address.") % {"path": made.path})
    return redirect("adminpanel:redirects")


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:redirects")
def remove_redirect(request: HttpRequest) -> HttpResponse:
    """Remove a redirect."""
    path = normalize_path(request.POST.get("path", ""))
    if former := operations.get_redirect(path):
        operations.remove_redirect(path)
        note_changes(request, {path: former.target}, {path: ""})
        messages.success(request, _("The redirect is removed."))
    return redirect("adminpanel:redirects")
