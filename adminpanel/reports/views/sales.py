"""What was sold, by day and by category."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.reports.forms import SalesForm
from adminpanel.reports.sales import get_sales_report
from analytics.days import shop_today
from web.rendering import render_page


@staff_required(("analyst", ADMIN))
@require_safe
def sales_report(request: HttpRequest) -> HttpResponse:
    """Show what was sold in a period, by default the last thirty days."""
    form = SalesForm(request.GET)
    first, last = form.parse_selection(shop_today())
    if form.is_refused:
        return render_page(request, "adminpanel/reports/sales.html", {"form": form}, status=422)
    form = SalesForm(initial={"first": first, "last": last})
    return render_page(
        request,
        "adminpanel/reports/sales.html",
        {"sales": get_sales_report(first, last, settings.CURRENCY), "form": form},
    )
