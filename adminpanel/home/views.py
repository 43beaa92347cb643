"""Home: the page on which the staff's work begins."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from adminpanel.home.pages import get_home
from adminpanel.orders.selection import OrderFilterForm
from cassandra_db import current_time
from web.rendering import render_page

# The board had the address of Home before. These fields tell its links apart.
_BOARD_FIELDS = frozenset((*OrderFilterForm.base_fields, "sort", "after"))


@staff_required()
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show the sales and the waiting work that the user's role may see. Former addresses of the board lead to the board."""
    if _BOARD_FIELDS & request.GET.keys():
        return redirect(f"{reverse('adminpanel:board')}?{request.GET.urlencode()}")
    found = get_home(current_member(request), current_time())
    return render_page(request, "adminpanel/home/home.html", {"home": found})
