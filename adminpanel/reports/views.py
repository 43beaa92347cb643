"""Pages of the reports: sales, visits, searches, the last half hour, and the climate in the warehouses."""

from datetime import date, timedelta

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, staff_required
from accounts.roles import ADMIN, CATALOGUE_STAFF
from adminpanel.file_states import send_csv
from adminpanel.reports.climate import KEPT_DAYS, LABELS, UNITS, ClimateDay, get_climate_day
from adminpanel.reports.forms import PeriodForm, SalesForm, VisitsForm
from adminpanel.reports.live import get_live_view
from adminpanel.reports.sales import get_sales_report
from adminpanel.reports.sales_file import list_sales_cells
from adminpanel.reports.searches import SearchesReport, get_searches_report
from adminpanel.reports.visits import VisitsReport, get_visits_report
from analytics.days import shop_today
from cassandra_db import current_time
from catalogue.queries import prefetch_categories
from web.rendering import render_page


@staff_required(("analyst", ADMIN))
@require_safe
def sales_report(request: HttpRequest) -> HttpResponse:
    """Show the sales of a period, by default the last thirty days. With `format=csv`, send the table's rows as a file."""
    form = SalesForm(request.GET)
    if form.is_refused:
        return render_page(request, "adminpanel/reports/sales.html", {"form": form}, status=422)
    selection = form.parse()
    report = get_sales_report(selection)
    if request.GET.get("format") == "csv":
        days = f"{selection.first}-{selection.last}"
        name = f"sales-by-{selection.by}-{selection.currency}-{days}.csv"
        return send_csv(name, list_sales_cells(report))
    shown = vars(selection) | {"by": selection.chosen_rows}
    context = {"sales": report, "form": SalesForm(initial=shown)}
    return render_page(request, "adminpanel/reports/sales.html", context)


@staff_required(("analyst", ADMIN))
@require_safe
def visits_report(request: HttpRequest) -> HttpResponse:
    """Show the visits of a period, by default the last thirty days. With `format=csv`, send the report's lines as a file."""
    prefetch_categories()
    form = VisitsForm(request.GET)
    if form.is_refused:
        return render_page(request, "adminpanel/reports/visits.html", {"form": form}, status=422)
    selection = form.parse()
    report = get_visits_report(selection, settings.CURRENCY)
    if request.GET.get("format") == "csv":
        return _send_visits(report)
    context = {
        "visits": report,
        "form": VisitsForm(initial=selection.to_initial()),
        "selection": selection,
    }
    return render_page(request, "adminpanel/reports/visits.html", context)


def _send_visits(report: VisitsReport) -> HttpResponse:
    head = [
        *(_("From"), _("Visitors"), _("Page views"), _("Added to cart"), _("At checkout")),
        *(_("Paid orders"), _("Conversion, %"), _("Average order"), _("Currency")),
        _("Returning customers, %"),
    ]
    rows = [
        [
            *(line.day, line.visitors, line.page_views, line.adding, line.at_checkout),
            *(line.sales.orders, "" if line.conversion is None else f"{line.conversion:.2f}"),
            *(line.average_order.amount if line.average_order else "", line.currency),
            "" if line.returning is None else f"{line.returning:.2f}",
        ]
        for line in report.lines
    ]
    return send_csv(f"visits-{report.first}-{report.last}.csv", [head, *rows])


@staff_required(("analyst", *CATALOGUE_STAFF, ADMIN))
@require_safe
def searches_report(request: HttpRequest) -> HttpResponse:
    """Show the searches of a period, by default the last thirty days. `format` sends its days (csv) or words as a file."""
    form = PeriodForm(request.GET)
    if form.is_refused:
        return render_page(request, "adminpanel/reports/searches.html", {"form": form}, status=422)
    first, last = form.get_period()
    report = get_searches_report(first, last)
    if request.GET.get("format") in ("csv", "words"):
        return _send_searches(report, by_words=request.GET["format"] == "words")
    context = {
        "report": report,
        "form": PeriodForm(initial={"first": first, "last": last}),
        "can_add": has_permission(current_member(request), "adminpanel.search_rule_new"),
    }
    return render_page(request, "adminpanel/reports/searches.html", context)


def _send_searches(report: SearchesReport, *, by_words: bool) -> HttpResponse:
    head = [_("Searches"), _("Found nothing")]
    if by_words:
        words = [[line.words, line.searches, line.empty] for line in report.words]
        return send_csv(f"searched-words-{report.last}.csv", [[_("Words"), *head], *words])
    head = [_("Day"), *head, _("Visitors who searched"), _("Clicks"), _("Visitors who clicked")]
    days = [
        [each.day, each.searches, each.empty, each.searchers, each.clicks, each.clickers]
        for each in report.days
    ]
    return send_csv(f"searches-{report.last}.csv", [head, *days])


@staff_required(("analyst", ADMIN))
@require_safe
def live_visits(request: HttpRequest) -> HttpResponse:
    """Show the visitors, page views and orders of the last thirty minutes. If nothing changed, answer 204."""
    live = get_live_view(current_time())
    if request.GET.get("seen") == live.fingerprint:
        return HttpResponse(status=204)
    return render_page(request, "adminpanel/reports/live.html", {"live": live}, part="live")


@staff_required(("warehouse", ADMIN))
@require_safe
def climate_day(request: HttpRequest) -> HttpResponse:
    """Show each sensor's readings of a day, by default today. With `format=csv`, send each quarter of an hour as a file."""
    climate = get_climate_day(_parse_day(request.GET.get("day", "")), current_time())
    if request.GET.get("format") == "csv":
        return _send_climate(climate)
    return render_page(request, "adminpanel/reports/climate.html", {"climate": climate})


def _parse_day(typed: str) -> date:
    """Return the requested day, limited to the days that are kept. If the text is no day, return today."""
    today = shop_today()
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        return today
    return min(max(day, today - timedelta(KEPT_DAYS)), today)


def _send_climate(climate: ClimateDay) -> HttpResponse:
    head = [
        *(_("Warehouse"), _("Sensor"), _("From (UTC)"), _("What")),
        *(_("Lowest"), _("Highest"), _("Unit")),
    ]
    rows = [
        [
            *(each.warehouse, each.sensor.serial_number, at.isoformat()),
            *(LABELS[kind], seen.lowest, seen.highest, UNITS[kind]),
        ]
        for each in climate.sensors
        for at, kind, seen in each.quarters
    ]
    return send_csv(f"climate-{climate.day}.csv", [head, *rows])
