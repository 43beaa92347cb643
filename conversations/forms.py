"""The forms of customers: messages, what to do with conversations, and labels."""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cart.forms import IdempotencyKeyField
from conversations.rules import LABEL_COLORS, MAX_AT_ONCE, MAX_BODY, MAX_MESSAGE_BYTES, MAX_SUBJECT
from conversations.uploads import MessageFilesField
from mail.forms import email_field
from web.forms import Form
from web.types import StrOrPromise

MAX_NAME = 100
MAX_LABEL_NAME = 40
COLORS: Mapping[str, StrOrPromise] = {
    "grey": gettext_lazy("Grey"),
    "red": gettext_lazy("Red"),
    "orange": gettext_lazy("Orange"),
    "yellow": gettext_lazy("Yellow"),
    "green": gettext_lazy("Green"),
    "teal": gettext_lazy("Teal"),
    "blue": gettext_lazy("Blue"),
    "purple": gettext_lazy("Purple"),
}


def is_quote_only(text: str) -> bool:
    """Return whether each line of a text is marked as a quote."""
    lines = [line for line in text.splitlines() if line.strip()]
    return bool(lines) and all(line.lstrip().startswith(">") for line in lines)


class MessageForm(Form):
    """The form of a message to the shop. A form that is sent twice stores one message (`source_id`)."""

    message = forms.CharField(
        label=gettext_lazy("Your message"),
        max_length=MAX_BODY,
        widget=forms.Textarea({"rows": 7}),
        error_messages={
            "required": gettext_lazy("Enter your message"),
            "max_length": gettext_lazy(
                "Enter a message of at most %(limit_value)d characters. Yours has %(show_value)d"
            ),
        },
    )
    files = MessageFilesField()  # type: ignore[assignment]
    source_id = IdempotencyKeyField()
    seen = forms.UUIDField(required=False, widget=forms.HiddenInput)

    def clean_message(self) -> str:
        """Refuse a text that says nothing of its own, or that takes too many bytes."""
        text = str(self.cleaned_data["message"])
        if is_quote_only(text):
            raise forms.ValidationError(
                _("This only quotes another message. Write something of your own")
            )
        if len(text.encode()) > MAX_MESSAGE_BYTES:
            raise forms.ValidationError(_("The message is too long. Send it in two parts"))
        return text


class ContactForm(MessageForm):
    """The form of a first message. Guests say who they are; their files wait until they have confirmed the address."""

    name = forms.CharField(
        label=gettext_lazy("Your name"),
        max_length=MAX_NAME,
        widget=forms.TextInput({"autocomplete": "name"}),
    )
    email = email_field()
    subject = forms.CharField(
        label=gettext_lazy("Subject"),
        max_length=MAX_SUBJECT,
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    seen = None  # type: ignore[assignment]
    field_order = ("name", "email", "subject", "message", "files")

    def __init__(
        self, data: Any = None, files: Any = None, *, is_guest: bool, **kwargs: Any
    ) -> None:
        # The base class takes line breaks out before anything is checked.
        self._has_lines = bool(data) and any(each in data.get("subject", "") for each in "\r\n")
        super().__init__(data, files, **kwargs)
        for name in ("files",) if is_guest else ("name", "email"):
            del self.fields[name]

    def clean_subject(self) -> str:
        """Refuse a subject of several lines."""
        if self._has_lines:
            raise forms.ValidationError(_("Enter the subject in one line"))
        return str(self.cleaned_data["subject"])


class TickedField(forms.Field):
    """The ticked conversations by id, each with the time of the newest message that the page showed: `<id>.<milliseconds>`."""

    widget = forms.SelectMultiple

    def clean(self, value: Any) -> dict[UUID, datetime]:
        """Return the conversations. Raises ValidationError for none, too many, and what a page does not send."""
        values = list(value or [])
        if not values:
            raise forms.ValidationError(_("Select at least one conversation"))
        if len(values) > MAX_AT_ONCE:
            raise forms.ValidationError(
                _("Select at most %(most)d conversations") % {"most": MAX_AT_ONCE}
            )
        try:
            return dict(map(_parse_ticked, values))
        except (ValueError, OverflowError, OSError) as error:
            raise forms.ValidationError(_("Reload the page and try again")) from error


def _parse_ticked(value: str) -> tuple[UUID, datetime]:
    text, _dot, milliseconds = value.partition(".")
    conversation_id = UUID(text)
    if conversation_id.version != 1:
        raise ValueError("a conversation's id has a time")
    return conversation_id, datetime.fromtimestamp(int(milliseconds) / 1000, UTC)


class ChangeForm(Form):
    """The form that changes the ticked conversations. Its button names what to do, or "more": then the select does."""

    act = forms.CharField(max_length=60)
    more = forms.CharField(required=False, max_length=60)
    conversation = TickedField()

    def __init__(self, data: Any, acts: Collection[str]) -> None:
        super().__init__(data)
        self._acts = acts

    @property
    def ticked(self) -> Collection[UUID]:
        """The ticked conversations of an invalid form."""
        found: Mapping[UUID, datetime] = self.cleaned_data.get("conversation", {})
        return found.keys()

    def clean(self) -> dict[str, Any]:
        """Require something to do that is known."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("act") == "more":
            clean["act"] = clean.get("more", "")
        if clean.get("act") not in self._acts:
            self.add_error("more", _("Choose what to do with them"))
        return clean


class LabelForm(Form):
    """The form of a label."""

    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=MAX_LABEL_NAME,
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    color = forms.ChoiceField(
        label=gettext_lazy("Colour"), choices=list(COLORS.items()), initial=LABEL_COLORS[0]
    )
