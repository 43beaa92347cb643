"""The form that chooses a document (paper) or a table to make from orders."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import choice_errors
from orders.papers.order_files import MAX_PRINTED_ORDERS, ORDER_FILES, list_order_files
from web.forms import Form


class PaperForm(Form):
    """The form that chooses a paper or table of the selected orders. The page makes `file_id`: a file is made only once."""

    file_id = forms.UUIDField(widget=forms.HiddenInput)
    kind = forms.ChoiceField(
        label=gettext_lazy("Document"),
        widget=forms.RadioSelect,
        error_messages=choice_errors(gettext_lazy("Choose one")),
    )

    def __init__(self, total: int, role: str, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.total = total
        self.fields["kind"].choices = [  # type: ignore[attr-defined]
            (each.name, each.label)
            for each in list_order_files(role).values()
            if not each.is_of_customers
        ]

    def clean_kind(self) -> str:
        """Return the kind of paper or table. Raises ValidationError if the paper would have too many orders."""
        name: str = self.cleaned_data["kind"]
        if ORDER_FILES[name].draw and self.total > MAX_PRINTED_ORDERS:
            raise forms.ValidationError(
                _(
                    "A document can have %(most)d orders. Narrow the selection with filters, or export a table."
                )
                % {"most": MAX_PRINTED_ORDERS}
            )
        return name
