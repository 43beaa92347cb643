"""The page of the staff's search."""

import re
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.audit_log import mailbox_pseudonym, words_pseudonym
from accounts.looks import prefetch_looks, record_look
from accounts.roles import CATALOGUE_STAFF, ORDER_STAFF
from adminpanel.parameters import seal, unseal
from adminpanel.search.pages import SearchAnswers, SearchForm, find_everything, find_order_number
from cassandra_db import current_time
from catalogue.words import split_words
from orders.search_terms import HEAD
from web.rendering import render_page


@staff_required((*ORDER_STAFF, *CATALOGUE_STAFF))
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show the results, grouped by kind. A whole order number redirects to the order, unless the user is still typing."""
    sealed = request.GET.get("sealed", "")
    form = SearchForm({"q": unseal(sealed)} if sealed else request.GET, auto_id="bar_%s")
    member, now = current_member(request), current_time()
    is_valid = form.is_valid()
    typed = form.cleaned_data.get("q", "")
    is_typing = bool(getattr(request, "htmx", None))
    is_address = "@" in typed
    if is_valid and not is_typing:
        if number := find_order_number(typed, member):
            return redirect("adminpanel:order", number)
        if is_address and not sealed:
            return redirect(_sealed_url(typed))
    asked = request.GET.get("year", "")
    year = int(asked) if re.fullmatch("20[0-9]{2}", asked) else None
    looks = prefetch_looks(member, now)
    found = find_everything(typed, member, now, year) if is_valid else SearchAnswers()
    if found.names_people:
        subject, covered = _describe_look(typed, found, year)
        record_look(member, "person_searched", subject, looks, now, covered)
    context = {
        "form": form,
        "bar_form": form,
        "typed": typed or request.GET.get("q", ""),
        "found": found,
        "is_valid": is_valid,
        "is_address": is_address,
    }
    return render_page(
        request,
        "adminpanel/search/search.html",
        context,
        part="results",
        status=200 if is_valid else 422,
        replace_url=_sealed_url(typed) if is_address else "",
    )


def _describe_look(typed: str, found: SearchAnswers, year: int | None) -> tuple[str, list[str]]:
    """Return a search's subject in the audit log, and the subjects of shorter searches that cover it if they were just logged.

    A name is typed letter by letter, so the log needs only its first search. A search with more people than shown covers none.
    """
    if "@" in typed:
        return mailbox_pseudonym(typed), []
    of_year = f", orders until {year}" if year else ""
    subject = words_pseudonym(typed) + of_year
    folded = " ".join(split_words(typed))
    covered = [words_pseudonym(folded[:length]) + of_year for length in range(HEAD, len(folded))]
    return f"{subject}, the first of many" if found.has_more_people else subject, covered


def _sealed_url(typed: str) -> str:
    return f"{reverse('adminpanel:search')}?{urlencode({'sealed': seal(typed)})}"
