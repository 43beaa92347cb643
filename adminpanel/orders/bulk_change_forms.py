"""The forms of bulk changes of orders, one for each kind of change."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import text_input
from adminpanel.orders.parcel_forms import TRACKING
from orders.bulk_acts import CONFIRMATION, DISPATCH, OrderAct
from orders.lifecycle.errors import InvalidTag
from orders.numbers import derive_order_number, normalize_order_number
from orders.queries import get_order_by_number
from orders.tags import MAX_TAG_LENGTH, MAX_TAGS, parse_tags
from web.forms import Form
from web.types import StrOrPromise

MAX_NOTE = 500
MAIL_LABELS: dict[str, StrOrPromise] = {
    CONFIRMATION: gettext_lazy("Order confirmation"),
    DISPATCH: gettext_lazy("The last about what was shipped"),
}
MAX_TRACKING_TEXT = 400_000


class OrderActForm(Form):
    """The base of the forms for the kinds of bulk change (acts). The button of a form sends the name of its act."""

    act = ""
    title: StrOrPromise = ""
    hint: StrOrPromise = ""
    # Users need this permission for the act, in addition to the permission to change many orders.
    permission = ""

    def __init__(self, data: QueryDict | None = None, order_ids: Sequence[UUID] = ()) -> None:
        super().__init__(data, auto_id=f"{self.act}-%s")
        self.order_ids = order_ids

    @property
    def tracking_by_order(self) -> dict[UUID, str]:
        """The tracking numbers in the valid form, keyed by order id."""
        found: dict[UUID, str] = self.cleaned_data.get("tracking") or {}
        return found

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
        """Return the submitted fields of the act for hidden fields, without the second-factor code."""
        sent = ((name, str(self.data.get(name, ""))) for name in self.base_fields)
        return [("act", self.act), *((name, value) for name, value in sent if value)]


class PackForm(OrderActForm):
    """The form that packs all units in stock: a parcel in each warehouse."""

    act, title = "packed", gettext_lazy("Pack")
    hint = gettext_lazy("All that is in stock of each order, a parcel for each warehouse.")


class ShipForm(OrderActForm):
    """The form that ships the packed parcels. Carrier and tracking numbers are optional."""

    act, title = "shipped", gettext_lazy("Ship")
    hint = gettext_lazy(
        "Each order’s packed parcels; if none is packed, all of it that can be. The customers get an email."
    )
    carrier = forms.CharField(
        label=gettext_lazy("Carrier"),
        max_length=40,
        required=False,
        help_text=gettext_lazy("Left empty, it is the one of each order’s delivery method."),
    )
    tracking = forms.CharField(
        label=gettext_lazy("Tracking numbers"),
        max_length=MAX_TRACKING_TEXT,
        required=False,
        widget=forms.Textarea({"rows": 6, "spellcheck": "false", "autocomplete": "off"}),
        help_text=gettext_lazy(
            "One a line: the order’s number, then the tracking number. Lines copied from a table work, too."
        ),
    )

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
                wrong = _("%(number)s is none of the selected orders") % {"number": typed}
            elif order_id in found:
                wrong = _("%(number)s has a tracking number already") % {"number": typed}
            elif tracking in lines_by_number:
                wrong = _("%(tracking)s stands in line %(other)s, too") % {
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
        help_text=gettext_lazy("Optional. It stands in each order’s history."),
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
        "Their units go back on sale, what was paid is refunded, and the customers get an email. It can’t be undone."
    )


class TagsForm(OrderActForm):
    """The form that adds tags to orders."""

    act, title = "tagged", gettext_lazy("Add tags")
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        max_length=MAX_TAGS * (MAX_TAG_LENGTH + 2),
        widget=text_input(),
        help_text=gettext_lazy("With commas between them."),
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

    act, title = "mailed", gettext_lazy("Send an email again")
    hint = gettext_lazy(
        "With the words that it had, to each order’s present address. Emails are kept for 30 days."
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
