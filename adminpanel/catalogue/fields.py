"""Form fields that both the forms of products and the forms of variants use."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from django import forms
from django.utils.translation import gettext_lazy

from adminpanel.forms import choice_errors, short_input, text_input
from catalogue.columns import COLUMNS_BY_NAME, END, LINES, MOMENT, NUMBER, YES_NO
from catalogue.entities import CategoryNode
from catalogue.queries import get_category_tree_at_quorum
from spreadsheets.errors import CellRefused
from spreadsheets.typed_values import (
    format_price,
    format_shop_time,
    format_whole_number,
    parse_end,
    parse_moment,
    parse_price,
    parse_whole_number,
)
from web.types import StrOrPromise

Value = TypeVar("Value")


def category_choices() -> list[tuple[str, str]]:
    """Return each category's id and path, parents before their children, read at quorum. Raises CassandraUnavailable."""
    nodes = get_category_tree_at_quorum().nodes
    return [(str(node.category_id), path_text(node)) for node in nodes]


def path_text(node: CategoryNode) -> str:
    """Return a category's path as text: the names of its ancestors, then its own name."""
    return " › ".join(each.name for each in node.path)


class TypedField(forms.Field):
    """A field that parses and formats text as the cells of spreadsheets do (spreadsheets.typed_values)."""

    def __init__(
        self,
        label: StrOrPromise,
        parse: Callable[[str], Any],
        show: Callable[[Any], str],
        widget: forms.Widget,
        hint: StrOrPromise = "",
        *,
        required: bool = False,
        missing: StrOrPromise = "",
    ) -> None:
        said = {"required": missing} if missing else None
        super().__init__(
            label=label, required=required, help_text=hint, widget=widget, error_messages=said
        )
        self.parse, self.show = parse, show

    def prepare_value(self, value: Any) -> Any:
        """Return a value as text. A text that the user typed stays unchanged."""
        return value if value is None or isinstance(value, str) else self.show(value)

    def to_python(self, value: Any) -> Any:
        """Return the parsed value, or None for an empty text. Raises ValidationError."""
        text = str(value or "").strip()
        if not text:
            return None
        return refuse_in_form(self.parse, text)


def refuse_in_form(parse: Callable[..., Value], *typed: Any) -> Value:
    """Return the result of `parse` for the typed texts. Raises ValidationError instead of CellRefused."""
    try:
        return parse(*typed)
    except CellRefused as refused:
        raise forms.ValidationError(str(refused)) from refused


def number_field(label: StrOrPromise, most: int, hint: StrOrPromise = "") -> TypedField:
    return TypedField(
        label,
        lambda text: parse_whole_number(text, most),
        format_whole_number,
        short_input(inputmode="numeric"),
        hint,
    )


def price_field(label: StrOrPromise, *, required: bool, hint: StrOrPromise = "") -> TypedField:
    return TypedField(
        label,
        parse_price,
        format_price,
        short_input(inputmode="decimal"),
        hint,
        required=required,
        missing=gettext_lazy("Enter a price"),
    )


def moment_field(
    label: StrOrPromise,
    hint: StrOrPromise = "",
    *,
    parse: Callable[[str], datetime | None] = parse_moment,
    required: bool = False,
) -> TypedField:
    """Return a field for a date and time in the shop's time zone. Its clean value is in UTC."""
    return TypedField(
        label,
        parse,
        format_shop_time,
        # A DateTimeInput would drop fractions of a second.
        forms.TextInput({"type": "datetime-local"}),
        hint,
        required=required,
        missing=gettext_lazy("Enter a day and a time"),
    )


def make_column_field(name: str) -> forms.Field:
    """Return the form field for a column of products (catalogue.columns)."""
    column = COLUMNS_BY_NAME[name]
    declared = column.form
    assert declared
    label, hint = declared.label, declared.hint
    if column.kind is NUMBER:
        return number_field(label, column.most, hint)
    if column.kind in (MOMENT, END):
        return moment_field(label, hint, parse=parse_end if column.kind is END else parse_moment)
    if column.kind is YES_NO:
        return forms.BooleanField(label=label, required=False)
    return forms.CharField(
        label=label,
        required=declared.is_required,
        max_length=column.most,
        help_text=hint,
        widget=forms.Textarea({"rows": declared.rows}) if column.kind is LINES else text_input(),
    )


def sku_field(*, required: bool = True) -> forms.CharField:
    return forms.CharField(
        label=gettext_lazy("SKU"),
        required=required,
        max_length=64,
        widget=short_input(autocapitalize="characters", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter a SKU")},
    )


class CategoryField(forms.ChoiceField):
    """A field for one of the shop's categories. Its value is the category's id."""

    default_error_messages = choice_errors(gettext_lazy("Choose a category"))
