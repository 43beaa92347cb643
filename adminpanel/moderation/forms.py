"""The forms of decisions about reviews, questions and answers, and of the shop's answers."""

from typing import Any, cast

from django import forms
from django.utils.translation import gettext_lazy as _

from adminpanel.forms import choice_errors
from cart.forms import IdempotencyKeyField
from moderation.rules import MAX_ANSWER, MAX_REASON
from web.forms import Form
from web.types import StrOrPromise

PUBLISH, REFUSE, HOLD, WITHDRAW = "publish", "refuse", "hold", "withdraw"


class ReviewDecisionForm(Form):
    """The form of a decision about a review, in the version on the page. `reason_help` says who reads the reason of a refusal."""

    reason_help: StrOrPromise = _("The writer gets it by email.")
    act = forms.ChoiceField(
        choices=((PUBLISH, ""), (REFUSE, ""), (HOLD, "")),
        error_messages=choice_errors(_("Choose what to do")),
    )
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=MAX_REASON,
        widget=forms.Textarea({"rows": 3}),
        error_messages={"max_length": _("Enter a reason of up to 500 characters")},
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    operation = IdempotencyKeyField()

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["reason"].help_text = self.reason_help

    def clean(self) -> dict[str, Any]:
        """Require a reason if the review is refused."""
        clean = cast(dict[str, Any], super().clean())
        if clean.get("act") == REFUSE and not clean.get("reason") and "reason" not in self.errors:
            self.add_error("reason", _("Enter a reason for refusing it"))
        return clean


class QuestionDecisionForm(ReviewDecisionForm):
    """The form of a decision about a question or an answer. The shop can also withdraw its own answer."""

    reason_help = _("The writer gets it by email.")
    act = forms.ChoiceField(
        choices=((PUBLISH, ""), (REFUSE, ""), (HOLD, ""), (WITHDRAW, "")),
        error_messages=choice_errors(_("Choose what to do")),
    )


class ReviewPictureForm(Form):
    """The form that removes a picture from a review, in the version that the page showed."""

    picture = forms.CharField(max_length=100)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    operation = IdempotencyKeyField()


class ReviewAnswerForm(Form):
    """The form of the shop's answer to a review. An empty text removes the answer."""

    answer = forms.CharField(
        label=_("Answer"),
        required=False,
        max_length=MAX_ANSWER,
        widget=forms.Textarea({"rows": 4}),
        error_messages={"max_length": _("Enter an answer of up to 2,000 characters")},
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    operation = IdempotencyKeyField()
