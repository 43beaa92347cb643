"""The page of the staff's search, and the answers to the command field."""

import re
from collections.abc import Sequence
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, staff_required
from accounts.audit_log import mailbox_pseudonym, words_pseudonym
from accounts.looks import TYPED_LOOK, prefetch_looks, record_look
from accounts.models import User
from accounts.roles import CATALOGUE_STAFF, ORDER_STAFF
from adminpanel.parameters import seal, unseal
from adminpanel.search.command_field import MIN_LETTERS, FoundGroup, find_matches, find_recent
from adminpanel.search.pages import SearchAnswers, SearchForm, find_everything, find_order_number
from adminpanel.side_bar import list_pages
from cassandra_db import current_time
from web.decorators import post_only
from web.rendering import is_asked_for_part, render_page

SEARCH_STAFF = (*ORDER_STAFF, *CATALOGUE_STAFF)


@staff_required(SEARCH_STAFF)
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the results, grouped by kind. A whole order number redirects to the order."""
    sealed = request.GET.get("sealed", "")
    form = SearchForm({"q": unseal(sealed)} if sealed else request.GET, auto_id="bar_%s")
    member, now = current_member(request), current_time()
    is_valid = form.is_valid()
    typed = form.cleaned_data.get("q", "")
    if is_valid:
        if number := find_order_number(typed, member):
            return redirect("adminpanel:order", number)
        if "@" in typed and not sealed:
            return redirect(_sealed_url(typed))
    asked = request.GET.get("year", "")
    year = int(asked) if re.fullmatch("20[0-9]{2}", asked) else None
    looks = prefetch_looks(member, now)
    found = find_everything(typed, member, now, year) if is_valid else SearchAnswers()
    if found.names_people:
        record_look(member, "person_searched", _describe_look(typed, year), looks, now)
    context = {
        "form": form,
        "bar_form": form,
        "typed": typed or request.GET.get("q", ""),
        "own_query": urlencode({"sealed": sealed} if sealed else {"q": typed}),
        "found": found,
        "is_valid": is_valid,
    }
    status = 200 if is_valid else 422
    return render_page(request, "adminpanel/search/search.html", context, status=status)


def _describe_look(typed: str, year: int | None) -> str:
    """Return a search's subject in the audit log. It has no word that was typed."""
    subject = mailbox_pseudonym(typed) if "@" in typed else words_pseudonym(typed)
    return f"{subject}, orders until {year}" if year else subject


@staff_required(SEARCH_STAFF, only_reads=True)
@post_only("adminpanel:search")
def command(request: HttpRequest) -> HttpResponse:
    """Answer the command field: what matches the typed text, or the recent items. Enter without a result leads to the search.

    The first answer in ten minutes that shows people is entered in the audit log.
    """
    form = SearchForm(request.POST)
    typed = form.cleaned_data["q"] if form.is_valid() else ""
    if not is_asked_for_part(request):
        return redirect(_sealed_url(typed) if typed else "adminpanel:search")
    member, now = current_member(request), current_time()
    is_search = len(typed) >= MIN_LETTERS
    if is_search:
        looks = prefetch_looks(member, now)
        groups = find_matches(typed, member, list_pages(member), now)
        if any(group.shows_people for group in groups):
            record_look(member, TYPED_LOOK, "", looks, now)
    else:
        # With a letter typed, Enter must not open what happens to be recent.
        groups = [] if request.POST.get("q", "").strip() else find_recent(member, now)
    said = _count_items(groups, member, is_search=is_search)
    context = {"groups": groups, "said": said}
    return render_page(request, "adminpanel/search/_command_results.html", context)


def _count_items(groups: Sequence[FoundGroup], member: User, *, is_search: bool) -> str:
    """Return the words below the results, which screen readers announce."""
    count = sum(len(group.items) for group in groups)
    if is_search and not count and has_permission(member, "adminpanel.order"):
        return _("No results. Press Enter for the search page, which can search earlier years.")
    if is_search and not count:
        return _("No results.")
    if is_search:
        return ngettext("%(count)d result", "%(count)d results", count) % {"count": count}
    return _("Type two letters of a name, city, number or SKU, or a whole email address.")


def _sealed_url(typed: str) -> str:
    return f"{reverse('adminpanel:search')}?{urlencode({'sealed': seal(typed)})}"
