"""Temperature and humidity of the warehouses."""

import csv
from datetime import date, timedelta

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import ADMIN
from adminpanel.reports.climate import KEPT_DAYS, LABELS, UNITS, ClimateDay, get_climate_day
from analytics.days import shop_today
from cassandra_db import current_time
from web.rendering import render_page


@staff_required(("warehouse", ADMIN))
@require_safe
def climate_day(request: HttpRequest) -> HttpResponse:
    """Show a day of each sensor, by default today. `format=csv` sends the quarters of an hour as a file."""
    climate = get_climate_day(_parse_day(request.GET.get("day", "")), current_time())
    if request.GET.get("format") == "csv":
        return _csv(climate)
    return render_page(request, "adminpanel/reports/climate.html", {"climate": climate})


def _parse_day(typed: str) -> date:
    """Return the day that is asked for, as far as it is kept; whatever is not understood is today."""
    today = shop_today()
    try:
        day = date.fromisoformat(typed)
    except ValueError:
        return today
    return min(max(day, today - timedelta(KEPT_DAYS)), today)


def _csv(climate: ClimateDay) -> HttpResponse:
    response = HttpResponse(
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="climate-{climate.day}.csv"'},
    )
    lines = csv.writer(response)
    lines.writerow(
        [
            _("Warehouse"),
            _("Sensor"),
            _("From (UTC)"),
            _("What"),
            _("Lowest"),
            _("Highest"),
            _("Unit"),
        ]
    )
    for each in climate.sensors:
        for at, kind, seen in each.quarters:
            lines.writerow(
                [
                    *(each.warehouse, each.sensor.serial_number, at.isoformat()),
                    *(LABELS[kind], seen.lowest, seen.highest, UNITS[kind]),
                ]
            )
    return response
