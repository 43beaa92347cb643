"""The forms of the books: the month that a page shows, and the request for its invoices."""

import re
from datetime import date

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from analytics.days import month_start, shop_today
from web.forms import FilterForm, Form

EARLIEST = date(1900, 1, 1)


class MonthField(forms.CharField):
    """A field for a month, such as 2026-11. Its value is the month's first day."""

    widget = forms.TextInput({"placeholder": "2026-11"})

    def to_python(self, value: object) -> date | None:  # type: ignore[override]
        """Return the month's first day. Raises ValidationError for another text, and for a month in the future."""
        text = super().to_python(value)
        if not text:
            return None
        match = re.fullmatch(r"(\d{4})-(0[1-9]|1[0-2])", text, re.ASCII)
        if not match or int(match[1]) < EARLIEST.year:
            raise forms.ValidationError(_("Enter a month in the format 2026-11"))
        month = date(int(match[1]), int(match[2]), 1)
        if month > shop_today():
            raise forms.ValidationError(_("Enter a month that is not in the future"))
        return month


class MonthForm(FilterForm):
    """The form that selects a month. The default is the current month."""

    month = MonthField(label=gettext_lazy("Month"), required=False)

    def get_month(self) -> date:
        """Return the first day of the month that a valid form selects."""
        return self.cleaned_data["month"] or month_start(shop_today())


class InvoicesForm(Form):
    """The form that makes the file of a month's invoices. The page makes `file_id`: a file is made only once."""

    file_id = forms.UUIDField(widget=forms.HiddenInput)
    month = MonthField(
        widget=forms.HiddenInput({"id": "invoices-month"}),
        error_messages={"required": gettext_lazy("Choose a month")},
    )
