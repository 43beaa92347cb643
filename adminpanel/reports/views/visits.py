"""What visitors looked at, and how many of them bought."""

import csv

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.reports.forms import VisitsForm
from adminpanel.reports.visits import VisitsReport, get_visits_report
from analytics.days import shop_today
from catalogue.queries import prefetch_categories
from web.rendering import render_page


@staff_required(("analyst", ADMIN))
@require_safe
def visits_report(request: HttpRequest) -> HttpResponse:
    """Show what visitors did in a period, by default the last thirty days. `format=csv` sends the lines as a file."""
    prefetch_categories()
    form = VisitsForm(request.GET)
    selection = form.parse(shop_today())
    if form.is_refused:
        return render_page(request, "adminpanel/reports/visits.html", {"form": form}, status=422)
    report = get_visits_report(
        selection.first,
        selection.last,
        settings.CURRENCY,
        category_id=selection.category_id,
        product_id=selection.product_id,
        by_week=selection.by_week,
    )
    if request.GET.get("format") == "csv":
        return _csv(report)
    context = {
        "visits": report,
        "form": VisitsForm(initial=selection.to_initial()),
        "selection": selection,
    }
    return render_page(request, "adminpanel/reports/visits.html", context)


def _csv(report: VisitsReport) -> HttpResponse:
    name = f"visits-{report.first}-{report.last}.csv"
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )
    lines = csv.writer(response)
    lines.writerow(
        [
            *(_("From"), _("Visitors"), _("Page views"), _("Added to cart"), _("At checkout")),
            *(_("Paid orders"), _("Conversion, %"), _("Average order"), _("Currency")),
            _("Returning customers, %"),
        ]
    )
    for line in report.lines:
        conversion = "" if line.conversion is None else f"{line.conversion:.2f}"
        returning = "" if line.returning is None else f"{line.returning:.2f}"
        average = line.average_order.amount if line.average_order else ""
        lines.writerow(
            [
                *(line.day, line.visitors, line.page_views, line.adding, line.at_checkout),
                *(line.sales.orders, conversion, average, line.currency),
                returning,
            ]
        )
    return response
