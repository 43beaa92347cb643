"""The forms of conversations: replies, notes, who works on one, its labels; and the forms of labels and saved replies."""

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.conversations.labels import STATES
from adminpanel.forms import choice_errors, text_input
from adminpanel.settings.forms import SettingForm
from cart.forms import IdempotencyKeyField
from conversations import forms as forms_of_customers
from conversations.forms import MessageForm
from conversations.rules import MAX_SUBJECT
from conversations.saved_replies import (
    MAX_NAME,
    MAX_TEXT,
    PLACEHOLDERS,
    SAVED_REPLIES,
    SavedReply,
    find_unfilled,
)
from conversations.search import MAX_QUERY
from web.forms import Form


class ConversationSearchForm(Form):
    """The form of the search among conversations."""

    q = forms.CharField(label=gettext_lazy("Search"), required=False, max_length=MAX_QUERY)


class ReplyForm(MessageForm):
    """The form of a reply to the customer. `seen` is the newest message that its page showed, `reply` a saved reply to put in."""

    reply = forms.CharField(required=False, max_length=40)

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

    files = seen = None  # type: ignore[assignment]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, auto_id="note-%s", **kwargs)
        field = self.fields["message"]
        field.label, field.help_text = _("Internal note"), _("Only staff can see this.")
        field.widget.attrs["rows"] = 3
        field.error_messages["required"] = _("Enter a note")


class NewConversationForm(MessageForm):
    """The form of the first message to a customer."""

    files = seen = None  # type: ignore[assignment]
    subject = forms.CharField(
        label=gettext_lazy("Subject"), max_length=MAX_SUBJECT, widget=text_input()
    )
    field_order = ("subject", "message")


class HeadForm(Form):
    """The base of forms that change a conversation's head, in the version that the page showed."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    operation = IdempotencyKeyField()


class AssignForm(HeadForm):
    """The form that says who works on a conversation."""

    assignee = forms.ChoiceField(
        label=gettext_lazy("Assigned to"),
        required=False,
        widget=forms.Select({"class": "select"}),
        error_messages=choice_errors(gettext_lazy("Choose a member of staff")),
    )

    def __init__(self, *args: Any, people: Mapping[UUID, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = [(str(user_id), name) for user_id, name in people.items()]
        cast(Any, self.fields["assignee"]).choices = [("", _("Unassigned")), *choices]


class StateForm(HeadForm):
    """The form that sets a conversation's state."""

    state = forms.ChoiceField(choices=[(state, "") for state in STATES])


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


class ChangeForm(forms_of_customers.ChangeForm):
    """The form that changes the ticked conversations."""

    operation = IdempotencyKeyField()


class LabelForm(forms_of_customers.LabelForm):
    """The form of a label. `version` is what the page showed of it."""

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
