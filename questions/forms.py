"""The forms about questions: they turn untrusted input into clean values."""

from uuid import UUID

from django import forms
from django.utils.translation import gettext_lazy as _

from cart.forms import IdempotencyKeyField
from web.forms import Form

MAX_QUESTION, MAX_ANSWER, MIN_TEXT = 1000, 2000, 10


class QuestionForm(Form):
    """The form that asks a question about a product."""

    body = forms.CharField(
        label=_("Your question"),
        help_text=_("Ask about the product. About an order, write to us instead."),
        min_length=MIN_TEXT,
        max_length=MAX_QUESTION,
        widget=forms.Textarea({"rows": 4}),
        error_messages={
            "min_length": _("Enter a question of 10 characters or more"),
            "max_length": _("Enter a question of up to 1,000 characters"),
        },
    )
    operation = IdempotencyKeyField()


class AnswerForm(Form):
    """The form that answers a question."""

    body = forms.CharField(
        label=_("Your answer"),
        min_length=2,
        max_length=MAX_ANSWER,
        widget=forms.Textarea({"rows": 4}),
        error_messages={
            "min_length": _("Enter an answer of 2 characters or more"),
            "max_length": _("Enter an answer of up to 2,000 characters"),
        },
    )
    operation = IdempotencyKeyField()


def _validate_time(value: UUID) -> None:
    # An answer's id is a UUID with a time.
    if value.version != 1:
        raise forms.ValidationError(_("Choose an answer."))


class TextForm(Form):
    """The form that names a question or one of its answers; `answer` is empty for the question itself."""

    answer = forms.UUIDField(required=False, validators=[_validate_time])


class WithdrawForm(TextForm):
    """The form that withdraws a question or an answer, in the version that the page showed."""

    version = forms.IntegerField(min_value=1)
    operation = IdempotencyKeyField()
