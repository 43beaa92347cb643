"""One field for all that staff look for."""

import re

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.forms import SearchForm
from adminpanel.product_forms import CATALOGUE_STAFF
from adminpanel.search import SearchAnswers, find_everything, find_order_number
from cassandra_db import current_time
from web.rendering import render_page


@staff_required((*ORDER_STAFF, *CATALOGUE_STAFF))
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show what was found, by kind. A whole order's number leads to the order at once, but not while it is being typed."""
    form = SearchForm(request.GET, auto_id="bar_%s")
    member = current_member(request)
    is_valid = form.is_valid()
    typed = form.cleaned_data.get("q", "")
    is_submitted = is_valid and not getattr(request, "htmx", None)
    if is_submitted and (number := find_order_number(typed, member)):
        return redirect("adminpanel:order", number)
    asked = request.GET.get("year", "")
    year = int(asked) if re.fullmatch("20[0-9]{2}", asked) else None
    found = find_everything(typed, member, current_time(), year) if is_valid else SearchAnswers()
    context = {
        "form": form,
        "typed": typed or request.GET.get("q", ""),
        "found": found,
        "is_valid": is_valid,
    }
    return render_page(
        request, "adminpanel/search.html", context, part="results", status=200 if is_valid else 422
    )
