"""Files whose lines are forms: the fields are the columns, a form's errors are the faults of cells, and its values are applied."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, ClassVar
from uuid import UUID

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS

from accounts.forms import SingleLineField
from mail.forms import email_field
from spreadsheets.entities import Change, Fault, FileRow, PlannedRow
from spreadsheets.errors import CellRefused
from web.forms import Form
from web.types import StrOrPromise

# What a row does, and its label: "new", "changed" or "unchanged"; or its faults.
Decision = tuple[str, str] | list[Fault]
Values = Mapping[str, Any]


class RowForm(Form):
    """A line of a file. `examples` are texts for the example file, by column."""

    examples: ClassVar[Mapping[str, Any]] = {}


class CellField(forms.CharField):
    """A field whose text is parsed as a cell of a file (spreadsheets.typed_values). An empty cell has the value `empty`."""

    def __init__(
        self,
        parse: Callable[[str], Any] = str,
        *,
        empty: Any = None,
        most: int = 200,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("required", False)
        super().__init__(max_length=most, **kwargs)
        self._parse, self._empty = parse, empty

    def clean(self, value: Any) -> Any:
        """Return the parsed value. Raises ValidationError for an impossible text."""
        if not (text := super().clean(value)):
            return self._empty
        try:
            return self._parse(text)
        except (CellRefused, ValueError) as refused:
            raise forms.ValidationError(str(refused)) from refused


def line_field(help_text: StrOrPromise = "", most: int = 100, **kwargs: Any) -> SingleLineField:
    """Return a field for a text in one line, which may be empty unless it is `required`."""
    return SingleLineField(max_length=most, help_text=help_text, **{"required": False, **kwargs})


def optional_email_field() -> forms.EmailField:
    """Return the field for an e-mail address that may be missing."""
    field = email_field()
    field.required = False
    return field


def lines_field(help_text: StrOrPromise, most: int) -> forms.CharField:
    """Return an optional field for a text with line breaks."""
    return forms.CharField(
        required=False, max_length=most, help_text=help_text, widget=forms.Textarea()
    )


def list_faults(line: int, form: forms.Form) -> list[Fault]:
    """Return the errors of a form as faults of a line."""
    return [
        Fault(line, "" if name == NON_FIELD_ERRORS else name, str(text))
        for name, errors in form.errors.items()
        for text in errors
    ]


def form_planner(
    form_class: type[RowForm], decide: Callable[[FileRow, Sequence[Values]], Decision]
) -> Callable[[Sequence[FileRow], UUID, datetime], list[PlannedRow]]:
    """Return the function that plans the rows of a layout whose lines are forms. `decide` judges a row without faults."""

    def plan(row: FileRow) -> PlannedRow:
        filled = [(line, form_class(cells)) for line, cells in row.lines]
        faults = [*row.faults, *(each for line, form in filled for each in list_faults(line, form))]
        decided = faults or decide(row, [form.cleaned_data for _line, form in filled])
        if isinstance(decided, list):
            return PlannedRow(row.position, row.line, row.key, "faulty", faults=tuple(decided))
        changes = tuple(
            Change(line, "", name, None, cells[name])
            for line, cells in row.lines
            for name in form_class.base_fields
            if cells.get(name) and decided[0] != "unchanged"
        )
        return PlannedRow(row.position, row.line, row.key, *decided, changes=changes)

    return lambda rows, _task_id, _now: [plan(row) for row in rows]


def read_forms(row: PlannedRow, form_class: type[RowForm]) -> list[Values]:
    """Return the values of a planned row's lines. Raises CellRefused if they have become impossible since."""
    cells: dict[int, dict[str, str]] = {}
    for change in row.changes:
        cells.setdefault(change.line, {})[change.column] = change.after
    filled = [form_class(each) for each in cells.values()]
    if faults := [fault for form in filled for fault in list_faults(row.line, form)]:
        raise CellRefused(faults[0].text)
    return [form.cleaned_data for form in filled]
