"""What happens in the shop in these minutes."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.reports.live import get_live_view
from cassandra_db import current_time
from web.rendering import render_page


@staff_required(("analyst", ADMIN))
@require_safe
def live_visits(request: HttpRequest) -> HttpResponse:
    """Show visitors, page views and orders of the last thirty minutes; 204 to an open page that shows them already."""
    live = get_live_view(current_time())
    if request.GET.get("seen") == live.fingerprint:
        return HttpResponse(status=204)
    return render_page(request, "adminpanel/reports/live.html", {"live": live}, part="live")
