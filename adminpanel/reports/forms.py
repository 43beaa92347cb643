"""The forms that select the contents of reports."""

from datetime import date
from typing import Any, cast
from uuid import UUID

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import CURRENCIES

from adminpanel.forms import day_input
from adminpanel.reports.periods import DEFAULT, PERIODS, Period
from adminpanel.reports.sales import MAX_REPORT_DAYS, ROWS, SalesSelection, default_rows
from adminpanel.reports.visits import MAX_VISITS_DAYS, VisitsSelection
from analytics.days import shop_today
from analytics.figures import ALL_CATEGORIES
from catalogue.queries import get_category_tree
from web.forms import FilterForm

EARLIEST = date(1900, 1, 1)


class PeriodForm(FilterForm):
    """The form that selects a report's first and last day, at most `max_days` together. The default is the last thirty days."""

    max_days = MAX_VISITS_DAYS
    first = forms.DateField(label=gettext_lazy("From"), required=False, widget=day_input())
    last = forms.DateField(label=gettext_lazy("To"), required=False, widget=day_input())

    def clean(self) -> dict[str, Any]:
        """Refuse days in the future or before EARLIEST, and periods that end before they begin, or are too long."""
        found, today = super().clean() or self.cleaned_data, shop_today()
        for name in ("first", "last"):
            day = found.get(name)
            if day and day > today:
                self.add_error(name, _("Enter a day that is not in the future"))
            elif day and day < EARLIEST:
                self.add_error(name, _("Enter a year from %(year)s on") % {"year": EARLIEST.year})
        if not self.errors:
            first, last = self.get_period()
            if first > last:
                self.add_error("last", _("Enter a day on or after the first day"))
            elif (last - first).days >= self.max_days:
                text = _("Select at most %(count)s days") % {"count": self.max_days}
                self.add_error("first", text)
        return found

    def get_period(self) -> Period:
        """Return the first and the last day that a valid form selects."""
        first, last = self.get_default()
        if typed_last := self.cleaned_data.get("last"):
            first, last = typed_last - (last - first), typed_last
        return self.cleaned_data.get("first") or first, last

    def get_default(self) -> Period:
        """Return the period for which no days need to be typed."""
        return PERIODS[DEFAULT][1](shop_today())


class SalesForm(PeriodForm):
    """The form that selects a sales report: a named period or days, the rows of its table, and a currency."""

    max_days = MAX_REPORT_DAYS
    period = forms.ChoiceField(
        required=False, choices=[(name, label) for name, (label, _days) in PERIODS.items()]
    )
    by = forms.ChoiceField(required=False, choices=[*ROWS.items()])
    currency = forms.ChoiceField(required=False, choices=[(code, code) for code in CURRENCIES])

    def get_default(self) -> Period:
        """Return the named period."""
        return PERIODS[self.cleaned_data.get("period") or DEFAULT][1](shop_today())

    def parse(self) -> SalesSelection:
        """Return the selection of a valid form."""
        found = self.cleaned_data
        period, currency = self.get_period(), found["currency"] or settings.CURRENCY
        return SalesSelection(*period, found["by"] or default_rows(*period), currency)


class VisitsForm(PeriodForm):
    """The form that selects a visits report: the days, a line per day or week (`by`), and a category or one product."""

    by = forms.ChoiceField(
        label=gettext_lazy("Lines"),
        required=False,
        choices=[("day", gettext_lazy("Days")), ("week", gettext_lazy("Weeks"))],
    )
    category = forms.ChoiceField(label=gettext_lazy("Products in"), required=False)
    product = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        nodes = sorted(
            (" › ".join(one.name for one in [*each.ancestors, each]), str(each.category_id))
            for each in get_category_tree().by_id.values()
        )
        choices = [("", _("All categories")), *((category_id, name) for name, category_id in nodes)]
        cast(forms.ChoiceField, self.fields["category"]).choices = choices

    def parse(self) -> VisitsSelection:
        """Return the selection of a valid form."""
        found = self.cleaned_data
        return VisitsSelection(
            *self.get_period(),
            found["by"] == "week",
            UUID(found["category"]) if found["category"] else ALL_CATEGORIES,
            found["product"],
        )
