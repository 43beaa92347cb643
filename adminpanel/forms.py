"""What staff type and press."""

from typing import Any

from django import forms

from orders.numbers import tidied
from orders.states import COLUMNS, STAFF_MOVES
from web.forms import Form

MAX_NOTE = 1000
DEFAULT_COLUMN = "to_pack"


class BoardForm(Form):
    """Which orders to show. Whatever is not understood shows the orders to pack."""

    column = forms.ChoiceField(choices=list(COLUMNS.items()), required=False)
    after = forms.CharField(required=False, max_length=500)
    seen = forms.CharField(required=False, max_length=64)  # what the asking page shows already

    def chosen(self) -> tuple[str, str, str]:
        """Return column, page token and what was seen, each usable as it is."""
        self.is_valid()
        clean = self.cleaned_data
        return clean.get("column") or DEFAULT_COLUMN, clean.get("after", ""), clean.get("seen", "")


class FindForm(Form):
    """An order's number, however it was typed (X57)."""

    number = forms.CharField(
        label="Order number",
        max_length=40,
        widget=forms.TextInput(
            {"class": "input--short", "autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )

    def clean_number(self) -> str:
        """Return the number as orders carry it."""
        return tidied(self.cleaned_data["number"])


def _note(label: str, *, required: bool) -> forms.CharField:
    return forms.CharField(
        label=label,
        required=required,
        max_length=MAX_NOTE,
        widget=forms.Textarea({"rows": 3}),
        help_text="Only staff see it.",
        error_messages={
            "required": "Write something first.",
            "max_length": f"A note has at most {MAX_NOTE} characters; this one has %(show_value)d.",
        },
    )


class MoveForm(Form):
    """One press on a button of an order's page, which was drawn when the order had this version."""

    event = forms.ChoiceField(choices=[(move.kind, move.label) for move in STAFF_MOVES])
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    note = _note("Note on this step", required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="move-%s", **kwargs)


class NoteForm(Form):
    """A note among the staff."""

    note = _note("Note", required=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)
