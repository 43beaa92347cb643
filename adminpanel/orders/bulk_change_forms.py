"""The forms of bulk changes of orders, one for each kind of change."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import text_input
from adminpanel.orders.parcel_forms import TRACKING, TrackingField
from jobs.bulk_changes import PAGE_LENGTH
from orders.bulk_acts import CONFIRMATION, DISPATCH, OrderAct
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import InvalidTag
from orders.numbers import derive_order_number, normalize_order_number
from orders.queries import get_order_by_number
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, parse_tags
from web.forms import Form
from web.types import StrOrPromise

MAX_NOTE = 500
MAIL_LABELS: dict[str, StrOrPromise] = {
    CONFIRMATION: gettext_lazy("Order confirmation"),
    DISPATCH: gettext_lazy("Latest shipping email"),
}
MAX_TRACKING_TEXT = 400_000


class OrderActForm(Form):
    """The base of the forms for the kinds of bulk change (acts). The button of a form sends the name of its act."""

    act = ""
    title: StrOrPromise = ""
    hint: StrOrPromise = ""
    # Users need this permission for the act, in addition to the permission to change many orders.
    permission = ""
    # These fields can be changed in the preview, too.
    preview_fields: tuple[str, ...] = ()

    def __init__(self, data: QueryDict | None = None, order_ids: Sequence[UUID] = ()) -> None:
        super().__init__(data, auto_id=f"{self.act}-%s")
        self.order_ids = order_ids

    @property
    def tracking_by_order(self) -> dict[UUID, str]:
        """The tracking numbers in the valid form, keyed by order id."""
        found: dict[UUID, str] = self.cleaned_data.get("tracking") or {}
        return found

    def get_number_field(self, order: Order) -> forms.BoundField | None:
        """Return the preview's field of an order's tracking number, or None."""
        return None

    def build_act(self, actor: str, refunds_until: datetime | None) -> OrderAct:
        """Return the act that the valid form describes. It refunds orders paid until `refunds_until`; with None, no orders."""
        sent = self.cleaned_data
        return OrderAct(
            self.act,
            actor,
            carrier=sent.get("carrier", ""),
            tags=sent.get("tags", ()),
            note=sent.get("note", ""),
            mail=sent.get("mail", ""),
            refunds_until=refunds_until.isoformat() if refunds_until else "",
        )

    def list_act_fields(self) -> list[tuple[str, str]]:
        """Return the act and its fields for the preview's hidden fields, without the second-factor code."""
        hidden = (name for name in self.base_fields if name not in self.preview_fields)
        sent = ((name, str(self.data.get(name, ""))) for name in hidden)
        return [("act", self.act), *((name, value) for name, value in sent if value)]


class PackForm(OrderActForm):
    """The form that packs all units in stock: a parcel in each warehouse."""

    act, title = "packed", gettext_lazy("Pack")
    hint = gettext_lazy("Packs all units in stock: one parcel per order and warehouse.")


class ShipForm(OrderActForm):
    """The form that ships the packed parcels. Carrier and tracking numbers are optional.

    If the preview has one page, each order has a field for its number there.
    """

    preview_fields = ("carrier", "tracking")
    act, title = "shipped", gettext_lazy("Ship")
    hint = gettext_lazy(
        "Ships the packed parcels. Orders without a packed parcel are packed and shipped. Customers get an email."
    )
    carrier = forms.CharField(
        label=gettext_lazy("Carrier"),
        max_length=40,
        required=False,
        widget=text_input(list="carriers"),
        help_text=gettext_lazy(
            "Leave empty to go by each number, else by the order’s delivery method."
        ),
    )
    tracking = forms.CharField(
        label=gettext_lazy("Tracking numbers"),
        max_length=MAX_TRACKING_TEXT,
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false", "autocomplete": "off"}),
        help_text=gettext_lazy(
            "One per line: order number, then tracking number. You can paste rows from a spreadsheet."
        ),
    )

    def __init__(self, data: QueryDict | None = None, order_ids: Sequence[UUID] = ()) -> None:
        super().__init__(data, order_ids)
        if len(order_ids) <= PAGE_LENGTH:
            self.fields |= {name_number_field(each): TrackingField() for each in order_ids}
            for each in order_ids[:1]:
                self.fields[name_number_field(each)].widget.attrs["autofocus"] = True

    def get_number_field(self, order: Order) -> forms.BoundField | None:
        name = name_number_field(order.order_id)
        if name not in self.fields:
            return None
        field = self[name]
        field.label = _("Tracking number of %(number)s") % {"number": order.number}
        return field

    def clean(self) -> dict[str, Any]:
        """Join the numbers of both kinds of fields by order. Lines of numbers move into the orders' own fields."""
        cleaned = super().clean() or self.cleaned_data
        names = {each: name_number_field(each) for each in self.order_ids}
        names = {order_id: name for order_id, name in names.items() if name in self.fields}
        numbers: dict[UUID, str] = dict(cleaned.get("tracking") or {})
        numbers |= {
            order_id: cleaned[name] for order_id, name in names.items() if cleaned.get(name)
        }
        first: dict[str, UUID] = {}
        for order_id, number in numbers.items():
            if first.setdefault(number, order_id) != order_id:
                words = _("%(number)s is entered for another order, too")
                self.add_error(names.get(order_id), words % {"number": number})
        if names and not self.errors:
            typed = {names[order_id]: number for order_id, number in numbers.items()}
            self.keep_typed(tracking="", **typed)
        return cleaned | {"tracking": numbers}

    def clean_tracking(self) -> dict[UUID, str]:
        """Return the tracking numbers, keyed by order id. Raises ValidationError for the first wrong line."""
        ids = {derive_order_number(each): each for each in self.order_ids}
        found: dict[UUID, str] = {}
        lines_by_number: dict[str, int] = {}
        for line, text in enumerate(self.cleaned_data["tracking"].splitlines(), 1):
            if not (text := text.strip()):
                continue
            typed, tracking = _split_line(text)
            order_id = ids.get(normalize_order_number(typed)) or self._find_order(typed)
            wrong = ""
            if not TRACKING.fullmatch(tracking):
                wrong = _("enter the order’s number, a space and the tracking number")
            elif order_id is None:
                wrong = _("%(number)s isn’t one of the selected orders") % {"number": typed}
            elif order_id in found:
                wrong = _("%(number)s has a tracking number already") % {"number": typed}
            elif tracking in lines_by_number:
                wrong = _("%(tracking)s is also in line %(other)s") % {
                    "tracking": tracking,
                    "other": lines_by_number[tracking],
                }
            if wrong or order_id is None:
                raise forms.ValidationError(
                    _("Line %(line)s: %(wrong)s") % {"line": line, "wrong": wrong}
                )
            found[order_id], lines_by_number[tracking] = tracking, line
        return found

    def _find_order(self, typed: str) -> UUID | None:
        """Return the id of the selected order with this stored number. Few orders' numbers do not follow from their ids."""
        order = get_order_by_number(typed)
        return order.order_id if order and order.order_id in set(self.order_ids) else None


def name_number_field(order_id: UUID) -> str:
    """Return the name of the field of an order's tracking number."""
    return f"number-{order_id}"


def _split_line(text: str) -> tuple[str, str]:
    for mark in (";", ",", "\t", " "):
        if mark in text:
            number, tracking = text.split(mark, 1)
            return number.strip(' "'), tracking.strip(' "')
    return text, ""


class NoteActForm(OrderActForm):
    """The form that adds a note to the history of each order."""

    note = forms.CharField(
        label=gettext_lazy("Note"),
        max_length=MAX_NOTE,
        required=False,
        widget=forms.Textarea({"rows": 2}),
        help_text=gettext_lazy("Optional. Shown in each order’s history."),
    )


class HoldForm(NoteActForm):
    """The form that puts orders on hold."""

    act, title = "held", gettext_lazy("Put on hold")


class ResumeForm(NoteActForm):
    """The form that resumes orders that are on hold."""

    act, title = "resumed", gettext_lazy("Resume")


class CancelForm(NoteActForm):
    """The form that cancels orders. It also refunds them if the user may refund."""

    act, title = "cancelled", gettext_lazy("Cancel")
    hint = gettext_lazy(
        "Restocks the units, refunds the payments and emails the customers. This can’t be undone."
    )


class TagsForm(OrderActForm):
    """The form that adds tags to orders."""

    act, title = "tagged", gettext_lazy("Add tags")
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        max_length=MAX_TAGS * (MAX_TAG_LENGTH + 2),
        widget=text_input(),
        help_text=gettext_lazy("Separated by commas."),
        error_messages={"required": gettext_lazy("Enter a tag, for example gift")},
    )

    def clean_tags(self) -> tuple[str, ...]:
        """Return the typed tags. Raises ValidationError."""
        try:
            found = parse_tags(self.cleaned_data["tags"])
        except InvalidTag as error:
            raise forms.ValidationError(str(error)) from error
        if not found:
            raise forms.ValidationError(_("Enter a tag, for example gift"))
        return found


class UntagForm(TagsForm):
    """The form that removes tags from orders."""

    act, title = "untagged", gettext_lazy("Remove tags")


class MailForm(OrderActForm):
    """The form that sends the orders' customers an earlier mail again."""

    act, title = "mailed", gettext_lazy("Resend an email")
    hint = gettext_lazy(
        "Sends the same text to each order’s current address. Emails are kept for 30 days."
    )
    permission = "adminpanel.mail_again"
    mail = forms.ChoiceField(label=gettext_lazy("Email"), choices=list(MAIL_LABELS.items()))


ACT_FORMS: dict[str, type[OrderActForm]] = {
    form.act: form
    for form in (
        *(PackForm, ShipForm, HoldForm, ResumeForm, CancelForm),
        *(TagsForm, UntagForm, MailForm),
    )
}
