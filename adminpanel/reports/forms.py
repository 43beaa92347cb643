"""The forms that select the contents of reports."""

from datetime import date
from typing import Any, cast
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import day_input
from adminpanel.reports.sales import MAX_REPORT_PERIOD, USUAL
from adminpanel.reports.visits import MAX_VISITS_PERIOD, VisitsSelection
from analytics.figures import ALL_CATEGORIES
from catalogue.queries import get_category_tree
from web.forms import FilterForm


class SalesForm(FilterForm):
    """The form that selects a report's first and last day. By default, these are the last thirty days."""

    max_period = MAX_REPORT_PERIOD
    first = forms.DateField(label=gettext_lazy("From"), required=False, widget=day_input())
    last = forms.DateField(label=gettext_lazy("To"), required=False, widget=day_input())

    def parse_selection(self, today: date) -> tuple[date, date]:
        """Return the first and last day in order. They are not in the future, and at most `max_period` apart."""
        self.is_valid()
        last = min(self.cleaned_data.get("last") or today, today)
        first = min(self.cleaned_data.get("first") or last - min(USUAL, last - date.min), last)
        return max(first, last - min(self.max_period, last - date.min)), last


class SearchesForm(SalesForm):
    """The form that selects the days of a searches report, within the period for which searches are kept."""

    max_period = MAX_VISITS_PERIOD


class VisitsForm(SearchesForm):
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

    def parse(self, today: date) -> VisitsSelection:
        """Return the selection. Its days are within the period for which visits are kept."""
        first, last = self.parse_selection(today)
        found = self.cleaned_data
        return VisitsSelection(
            first,
            last,
            found.get("by") == "week",
            UUID(found["category"]) if found.get("category") else ALL_CATEGORIES,
            found.get("product"),
        )
