"""The forms that are on every order's page, and the base class and fields of the other order forms."""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.forms import note_field, short_input
from adminpanel.orders.mail_notices import MailNotice
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import InvalidTag
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits
from orders.lifecycle.states import STAFF_TRANSITIONS
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, parse_tags
from web.forms import Form
from web.types import StrOrPromise

WHOLE_NUMBER = re.compile(r"[0-9]{1,4}")
_AMOUNT = re.compile(r"€? ?([0-9]{1,7})(?:[.,]([0-9]{1,2}))? ?€?")


class UnitsField(forms.CharField):
    """A field for a number of units from 0 to `most`. An empty field means 0."""

    def __init__(self, label: str, most: int) -> None:
        super().__init__(
            label=label, required=False, max_length=10, widget=short_input(inputmode="numeric")
        )
        self.most = most

    def clean(self, value: Any) -> int:
        """Return the typed number. Raises ValidationError."""
        text = super().clean(value)
        if not text:
            return 0
        if not WHOLE_NUMBER.fullmatch(text) or int(text) > self.most:
            raise forms.ValidationError(
                _("Enter a whole number from 0 to %(most)s") % {"most": self.most}
            )
        return int(text)


class AmountField(forms.CharField):
    """A field for a sum of money in the order's currency."""

    def __init__(
        self,
        label: str,
        most: Money,
        *,
        help_text: str = "",
        required: bool = True,
        takes_zero: bool = False,
    ) -> None:
        super().__init__(
            label=label,
            required=required,
            max_length=20,
            help_text=help_text,
            widget=short_input(inputmode="decimal"),
            error_messages={"required": gettext_lazy("Enter an amount like 12.50")},
        )
        self.most, self.takes_zero = most, takes_zero

    def clean(self, value: Any) -> Money | None:
        """Return the typed sum, or None if the field is empty. Raises ValidationError."""
        text = super().clean(value)
        if not text:
            return None
        found = _AMOUNT.fullmatch(text)
        if found is None:
            raise forms.ValidationError(_("Enter an amount like 12.50"))
        amount = Money(Decimal(f"{found[1]}.{found[2] or '0'}"), self.most.currency)
        if not amount.amount and not self.takes_zero:
            raise forms.ValidationError(_("Enter an amount above zero"))
        return amount


class TypedForm(Form):
    """A form that can list its typed texts. A page that no longer has the form can then show them.

    `mail_kinds` are the events that its buttons cause, with the buttons' labels if it has several. `mail_notice` says whom
    they mail.
    """

    mail_kinds: Mapping[str, StrOrPromise] = {}
    mail_notice: MailNotice | None = None

    @property
    def typed_values(self) -> list[tuple[str, str]]:
        """The typed texts with their labels. Empty texts are left out."""
        said = [
            (str(each.label), str(each.value() or "").strip()) for each in self.visible_fields()
        ]
        return [(label, value) for label, value in said if value]


class OrderForm(TypedForm):
    """The base of forms that change an order. These forms contain the version of the order that the page showed."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(
        self, order: Order, key: str, data: Mapping[str, Any] | None, **initial: Any
    ) -> None:
        super().__init__(data, auto_id=f"{key}-%s", initial={"version": order.version, **initial})
        self.order, self.key = order, key
        self.lines: list[tuple[Item, forms.BoundField]] = []

    def add_unit_fields(self, contents: Iterable[ItemUnits], *, prefill: bool = True) -> None:
        """Add a field for the units of each line in `contents`. With `prefill`, all its units are the initial value."""
        for content in contents:
            name = f"line_{content.item.line_number}"
            self.fields[name] = UnitsField(content.item.label, content.units)
            self.initial[name] = content.units if prefill else ""
            self.lines.append((content.item, self[name]))

    @property
    def units(self) -> dict[int, int]:
        """The typed units, keyed by line number."""
        return {item.line_number: self.cleaned_data[field.name] for item, field in self.lines}

    def require_some_units(self) -> None:
        """Add an error to the form if no units were typed."""
        if not self.errors and not any(self.units.values()):
            self.add_error(
                self.lines[0][1].name if self.lines else None,
                _("Enter a number for at least one item"),
            )


def line_contents(items: Iterable[Item], lines: Mapping[int, int]) -> list[ItemUnits]:
    """Return the items whose line numbers have units in `lines`, each with these units."""
    return [
        ItemUnits(item, units) for item in items if (units := lines.get(item.line_number, 0)) > 0
    ]


class TransitionForm(Form):
    """The form of a transition to another state of the order, in the version that the page showed."""

    event = forms.ChoiceField(choices=[(move.kind, move.label) for move in STAFF_TRANSITIONS])
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    note = note_field(gettext_lazy("Note on this step"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="move-%s", **kwargs)


class NoteForm(Form):
    """The form of a staff note on an order."""

    note = note_field()
    # The last event that the page showed. If a newer page sends the same note, it is added once more (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)


class MailAgainForm(Form):
    """The form that sends a mail about an order again."""

    # The last event that the page showed. A newer page can send the mail once more (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)


class TagForm(Form):
    """The form of an order's tags. It adds tags, separated by commas, or removes the tag of the pressed button."""

    add = forms.CharField(
        label=gettext_lazy("Add tags"),
        required=False,
        max_length=MAX_TAGS * (MAX_TAG_LENGTH + 2),
        help_text=gettext_lazy("Separated by commas. Customers never see tags."),
        widget=forms.TextInput({"list": "known-tags", "autocomplete": "off"}),
    )
    remove = forms.CharField(required=False, widget=forms.HiddenInput)
    # The last event that the page showed. The same tags from a newer page are another submit (orders.submits).
    seen = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="tags-%s", **kwargs)

    def clean_add(self) -> tuple[str, ...]:
        try:
            return parse_tags(self.cleaned_data["add"])
        except InvalidTag as error:
            raise forms.ValidationError(str(error)) from error

    def clean(self) -> None:
        if not self.errors and not self.cleaned_data["add"] and not self.cleaned_data["remove"]:
            self.add_error("add", _("Enter a tag, for example gift"))
