"""The page of redirects from addresses of a former shop, and of the addresses that were not found."""

from functools import partial

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from cassandra_db import current_time, run_side_by_side
from catalogue.errors import RedirectChanged, RedirectRefused
from catalogue.menu_links import find_target_url
from catalogue.missing_addresses import list_missing
from catalogue.old_addresses import normalize_path
from catalogue.operations import redirects as operations
from spreadsheets.redirects import RedirectForm
from web.decorators import get_or_post, post_only
from web.rendering import render_page

PAGE_LENGTH = 50
MAX_MISSING = 25


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def redirect_list(request: HttpRequest) -> HttpResponse:
    """List the redirects by path, and the addresses that were not found; add a redirect, or change the one of its old address.

    The page's address may name the path with which the list begins, and the old address of a new redirect.
    """
    old = normalize_path(request.GET.get("old", ""))
    form = RedirectForm(request.POST or None, initial={"old_address": old})
    seen = request.POST.get("seen", "")
    if not form.is_valid():
        return _page(request, form, seen, status=422 if form.is_bound else 200)
    path, target = form.cleaned_data["old_address"], form.cleaned_data["new_address"]
    try:
        operations.save_redirect(path, target, seen)
    except RedirectChanged as changed:
        form.add_error("old_address", f"{changed} {_('Save again to change that.')}")
        return _page(request, form, changed.target, status=409)
    except RedirectRefused as refused:
        form.add_error("old_address", str(refused))
        return _page(request, form, seen, status=422)
    note_changes(request, {path: seen}, {path: target})
    messages.success(request, _("%(path)s redirects to its new address.") % {"path": path})
    return redirect("adminpanel:redirects")


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:redirects")
def remove_redirect(request: HttpRequest) -> HttpResponse:
    """Remove a redirect that nobody has changed since the page was shown."""
    path, seen = normalize_path(request.POST.get("path", "")), request.POST.get("seen", "")
    try:
        if operations.remove_redirect(path, seen):
            note_changes(request, {path: seen}, {path: ""})
            messages.success(request, _("The redirect is removed."))
    except RedirectChanged as changed:
        messages.error(request, f"{path}: {changed}")
        return _page(request, RedirectForm(), status=409)
    return redirect("adminpanel:redirects")


def _page(
    request: HttpRequest, form: RedirectForm, seen: str = "", *, status: int = 200
) -> HttpResponse:
    """Return the page. The form changes the redirect that leads to the target `seen`; "" adds one."""
    begin = normalize_path(request.GET.get("begin", ""))
    missing, found = run_side_by_side(
        partial(list_missing, current_time(), MAX_MISSING),
        partial(operations.list_redirects, begin, PAGE_LENGTH + 1),
    )
    reading = [operations.prefetch_redirect(path) for path, _count in missing]
    context = {
        "redirects": [
            (row.path, row.target, find_target_url(row.target)) for row in found[:PAGE_LENGTH]
        ],
        "begin": begin,
        "next": found[-1].path if len(found) > PAGE_LENGTH else "",
        "missing": [
            each for each, pending in zip(missing, reading, strict=True) if not pending.one()
        ],
        "form": form,
        "seen": seen,
    }
    return render_page(request, "adminpanel/catalogue/redirects.html", context, status=status)
