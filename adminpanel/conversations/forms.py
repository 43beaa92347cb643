"""The forms of conversations: replies, notes, who works on one, its labels; and the forms of labels and saved replies."""

from collections.abc import Collection, Mapping
from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.conversations.labels import COLORS, STATES
from adminpanel.forms import choice_errors, text_input
from adminpanel.settings.forms import SettingForm
from cart.forms import IdempotencyKeyField
from conversations.rules import MAX_AT_ONCE, MAX_BODY, MAX_MESSAGE_BYTES, MAX_SUBJECT
from conversations.saved_replies import (
    MAX_NAME,
    MAX_TEXT,
    PLACEHOLDERS,
    SAVED_REPLIES,
    SavedReply,
    find_unfilled,
)
from conversations.search import MAX_QUERY
from conversations.uploads import MessageFilesField
from web.forms import Form

MAX_LABEL_NAME = 40
SHOWN_LABELS = 200  # more ids in a form are not looked at
_VERSION = forms.IntegerField(widget=forms.HiddenInput, min_value=1)


class ConversationSearchForm(Form):
    """The form of the search among conversations."""

    q = forms.CharField(label=gettext_lazy("Search"), required=False, max_length=MAX_QUERY)


class MessageForm(Form):
    """The base of forms with a text for a conversation. A form that is sent twice stores one message (`source_id`)."""

    message = forms.CharField(
        max_length=MAX_BODY,
        widget=forms.Textarea({"rows": 7}),
        error_messages={
            "required": gettext_lazy("Enter a message"),
            "max_length": gettext_lazy(
                "Enter a message of at most %(limit_value)d characters; this one has %(show_value)d"
            ),
        },
    )
    source_id = IdempotencyKeyField()

    def clean_message(self) -> str:
        """Refuse a text that is too long in bytes, which some scripts need several of for a letter."""
        text = str(self.cleaned_data["message"])
        if len(text.encode()) > MAX_MESSAGE_BYTES:
            raise forms.ValidationError(_("The message is too long. Send it in two parts"))
        return text


class ReplyForm(MessageForm):
    """The form of a reply to the customer. `seen` is the newest message that its page showed, `reply` a saved reply to put in."""

    files = MessageFilesField()  # type: ignore[assignment]
    reply = forms.CharField(required=False, max_length=40)
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=40)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["message"].label = _("Reply")

    def clean_message(self) -> str:
        """Refuse a placeholder that nobody has filled in."""
        text = super().clean_message()
        if unfilled := find_unfilled(text):
            raise forms.ValidationError(
                _("Fill in %(names)s, or take it out") % {"names": ", ".join(unfilled)}
            )
        return text


class NoteForm(MessageForm):
    """The form of an internal note."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)
        field = self.fields["message"]
        field.label, field.help_text = _("Internal note"), _("Only staff can see this.")
        field.widget.attrs["rows"] = 3
        field.error_messages["required"] = _("Enter a note")


class NewConversationForm(MessageForm):
    """The form of the first message to a customer."""

    subject = forms.CharField(
        label=gettext_lazy("Subject"), max_length=MAX_SUBJECT, widget=text_input()
    )
    field_order = ("subject", "message")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["message"].label = _("Message")


class AssignForm(Form):
    """The form that says who works on a conversation, in the version that the page showed."""

    assignee = forms.ChoiceField(
        label=gettext_lazy("Assigned to"),
        required=False,
        widget=forms.Select({"class": "select"}),
        error_messages=choice_errors(gettext_lazy("Choose one of the staff")),
    )
    version = _VERSION
    operation = IdempotencyKeyField()

    def __init__(self, *args: Any, people: Mapping[UUID, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(user_id), name) for user_id, name in people.items()]
        cast(Any, self.fields["assignee"]).choices = [("", _("Nobody")), *choices]


class StateForm(Form):
    """The form that sets a conversation's state, in the version that the page showed."""

    state = forms.ChoiceField(choices=[(state, "") for state in STATES])
    version = _VERSION
    operation = IdempotencyKeyField()


class ConversationLabelsForm(Form):
    """The ticked labels of a conversation, and those that the page showed as ticked. Other labels stay as they are."""

    label = forms.MultipleChoiceField(required=False)
    shown = forms.MultipleChoiceField(required=False)

    def __init__(self, data: Any, labels: Mapping[UUID, Any]) -> None:
        super().__init__(data)
        for name in self.fields:
            cast(Any, self.fields[name]).choices = [(str(each), "") for each in labels]

    @property
    def changes(self) -> tuple[set[UUID], set[UUID]]:
        """The labels to put on and to take off."""
        ticked, shown = (set(map(UUID, self.cleaned_data[name])) for name in ("label", "shown"))
        return ticked - shown, shown - ticked


class ChangeForm(Form):
    """The form that changes the ticked conversations. Its button names what to do, or "more": then the select does."""

    act = forms.CharField(max_length=60)
    more = forms.CharField(required=False, max_length=60)
    conversation = forms.TypedMultipleChoiceField(
        coerce=UUID, error_messages=choice_errors(gettext_lazy("Tick at least one conversation"))
    )
    shown_at = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    operation = IdempotencyKeyField()

    def __init__(self, data: Any, acts: Collection[str]) -> None:
        super().__init__(data)
        self._acts = acts
        ids = data.getlist("conversation")[: MAX_AT_ONCE + 1]
        choices = [(each, "") for each in ids if _is_id(each)]
        cast(Any, self.fields["conversation"]).choices = choices

    def clean_conversation(self) -> list[UUID]:
        """Refuse more than can be changed at once."""
        found = list(dict.fromkeys(self.cleaned_data["conversation"]))
        if len(found) > MAX_AT_ONCE:
            raise forms.ValidationError(
                _("Tick at most %(most)d conversations") % {"most": MAX_AT_ONCE}
            )
        return found

    def clean(self) -> dict[str, Any]:
        """Require something to do that is known."""
        clean = cast(dict[str, Any], super().clean())
        act = clean.get("act", "")
        clean["act"] = clean.get("more", "") if act == "more" else act
        if clean["act"] not in self._acts:
            self.add_error("more", _("Choose what to do with them"))
        return clean


def _is_id(text: str) -> bool:
    try:
        return UUID(text).version == 1
    except ValueError:
        return False


class LabelForm(Form):
    """The form of a label. `version` is what the page showed of it."""

    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=MAX_LABEL_NAME, widget=text_input()
    )
    color = forms.ChoiceField(
        label=gettext_lazy("Colour"), choices=list(COLORS.items()), initial="grey"
    )
    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=100)


class SavedReplyForm(SettingForm[SavedReply]):
    """The form of a saved reply."""

    kind, entity_class = SAVED_REPLIES, SavedReply
    template = "adminpanel/conversations/saved_reply.html"
    saved_text = gettext_lazy("Saved.")
    key = forms.UUIDField(widget=forms.HiddenInput, required=False, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=MAX_NAME,
        help_text=gettext_lazy("Only staff see it, in the list of saved replies."),
        widget=text_input(),
    )
    text = forms.CharField(
        label=gettext_lazy("Text"), max_length=MAX_TEXT, widget=forms.Textarea({"rows": 10})
    )

    def __init__(self, setting: SavedReply | None, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(setting, data)
        known = "; ".join(f"{{{name}}}: {words}" for name, words in PLACEHOLDERS.items())
        self.fields["text"].help_text = _("Filled in for you: %(known)s.") % {"known": known}
