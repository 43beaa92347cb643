"""The lists of products: categories, deals and new arrivals (decision 048), and their filters (decision 081)."""

from functools import partial

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from catalogue import queries, search
from catalogue.filtered_lists import deals_scope, new_arrivals_scope
from storefront.list_filters import FILTER_PARAMETERS
from storefront.product_lists import EmptyList, ListPart, ProductList, render_list
from storefront.whole_pages import whole_page
from web.decorators import public


def _find_featured(name: str, token: str, _limit: int) -> ListPart:
    """Return the front page's row instead of a list, for a new host that has no index yet."""
    return ListPart(() if token else tuple(queries.list_featured(name)), None, "")


@require_safe
@whole_page("sort", "after", "show", unless=FILTER_PARAMETERS)
@public
def deals(request: HttpRequest) -> HttpResponse:
    """Show the reduced products."""
    default = search.DEAL_SORT_LABELS[0][0]
    sort = request.GET.get("sort", default)
    if sort not in search.DEAL_SORTS:
        return redirect("deals")
    queries.prefetch_categories()
    url = reverse("deals")
    empty = EmptyList(
        _("No deals right now"),
        _("Nothing is reduced at the moment. Take a look at what’s new instead."),
        reverse("new_arrivals"),
        _("See new arrivals"),
    )
    listing = ProductList(
        "deals",
        url,
        deals_scope,
        search.DEAL_SORTS,
        search.DEAL_SORT_LABELS,
        sort,
        default,
        empty,
        partial(_find_featured, "deals"),
    )
    context = {
        "title": _("Deals"),
        "lead": _("Good things for less: everything that is reduced right now."),
        "nav_current": url,
    }
    return render_list(request, listing, "storefront/list.html", lambda _part, _selection: context)


@require_safe
@whole_page("after", "show", unless=FILTER_PARAMETERS)
@public
def new_arrivals(request: HttpRequest) -> HttpResponse:
    """Show the newest products."""
    queries.prefetch_categories()
    url = reverse("new_arrivals")
    empty = EmptyList(
        _("Nothing new yet"),
        _("We’re still choosing what to sell next."),
        reverse("home"),
        _("Browse products"),
    )
    orders = {"newest": search.SORTS["newest"]}
    listing = ProductList(
        "new_arrivals",
        url,
        new_arrivals_scope,
        orders,
        (),
        "newest",
        "newest",
        empty,
        partial(_find_featured, "new_arrivals"),
    )
    context = {
        "title": _("New arrivals"),
        "lead": _("The latest additions to the shop, newest first."),
        "feed_url": reverse("new_products"),
        "nav_current": url,
    }
    return render_list(request, listing, "storefront/list.html", lambda _part, _selection: context)
