"""Untrusted input about reviews -> clean values."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext_lazy as _

from cart.forms import IdempotencyKeyField
from reviews.entities import WITHDRAWN, Review
from reviews.rules import MAX_BODY, MAX_TITLE, MIN_BODY
from web.forms import Form

STAR_CHOICES = (
    ("5", _("5 stars: excellent")),
    ("4", _("4 stars: good")),
    ("3", _("3 stars: fine")),
    ("2", _("2 stars: poor")),
    ("1", _("1 star: bad")),
)


class ReviewForm(Form):
    """A review as its writer types it; `version` is the one that the page showed, 0 for none."""

    stars = forms.TypedChoiceField(
        label=_("Your rating"),
        choices=STAR_CHOICES,
        coerce=int,
        widget=forms.RadioSelect,
        error_messages={
            "required": _("Choose one to five stars"),
            "invalid_choice": _("Choose one to five stars"),
        },
    )
    title = forms.CharField(
        label=_("Title"),
        max_length=MAX_TITLE,
        error_messages={"max_length": _("Enter a title of up to 100 characters")},
    )
    body = forms.CharField(
        label=_("Review"),
        help_text=_("What do you like, and what not? Leave out links and personal data."),
        min_length=MIN_BODY,
        max_length=MAX_BODY,
        widget=forms.Textarea({"rows": 7}),
        error_messages={
            "min_length": _("Enter a review of 10 characters or more"),
            "max_length": _("Enter a review of up to 4,000 characters"),
        },
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    operation = IdempotencyKeyField()

    @classmethod
    def of_review(cls, review: Review | None) -> ReviewForm:
        """Return the form with a review that is there, or empty."""
        initial: dict[str, Any] = {"version": 0, "operation": uuid4()}
        if review:
            initial["version"] = review.version
            if review.state != WITHDRAWN:
                initial |= {
                    "stars": str(review.stars),
                    "title": review.title,
                    "body": review.body,
                }
        return cls(initial=initial)

    def show_newer(self, review: Review | None) -> None:
        """Let what was typed be sent once more, over the version that is there now."""
        version = str(review.version if review else 0)
        self.data = {**self.data.dict(), "version": version, "operation": str(uuid4())}  # type: ignore[attr-defined]


class WithdrawForm(Form):
    """Which version of a review is withdrawn."""

    version = forms.IntegerField(min_value=1)
    operation = IdempotencyKeyField()


def _validate_time(value: UUID) -> None:
    # A review's id has its time in it.
    if value.version != 1:
        raise forms.ValidationError(_("Choose a review."))


def _review_field() -> forms.UUIDField:
    complaint = dict.fromkeys(("required", "invalid"), _("Choose a review."))
    return forms.UUIDField(validators=[_validate_time], error_messages=complaint)


class VoteForm(Form):
    """Which review somebody finds helpful, or no longer does."""

    review = _review_field()
    helpful = forms.TypedChoiceField(
        choices=(("1", ""), ("0", "")),
        coerce=lambda value: value == "1",
        error_messages={"required": _("Choose a review."), "invalid_choice": _("Choose a review.")},
    )


class ReportForm(Form):
    """Which review a reader reports."""

    review = _review_field()
