"""The forms about reviews: they turn untrusted input into clean values."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

from django import forms
from django.core.files import File
from django.utils.translation import gettext_lazy as _

from cart.forms import IdempotencyKeyField
from moderation.states import WITHDRAWN
from reviews.entities import MAX_BODY, MAX_TITLE, MIN_BODY, Review
from reviews.pictures import MAX_PICTURE_BYTES, MAX_PICTURES
from web.forms import Form

_TOO_LARGE = _("A file that you chose has more than %(most)d MB. Make the picture smaller.")
STAR_CHOICES = (
    ("5", _("5 stars: excellent")),
    ("4", _("4 stars: good")),
    ("3", _("3 stars: fine")),
    ("2", _("2 stars: poor")),
    ("1", _("1 star: bad")),
)


class PicturesInput(forms.FileInput):
    """A field for several pictures. A script refuses files that are too many or too large before the upload."""

    allow_multiple_selected = True

    def __init__(self, most: int = MAX_PICTURES, attributes: dict[str, str] | None = None) -> None:
        megabytes = MAX_PICTURE_BYTES // (1024 * 1024)
        super().__init__(
            {
                **(attributes or {}),
                "multiple": True,
                "accept": "image/jpeg,image/png,image/webp,image/avif",
                "data-most-files": most,
                "data-most-megabytes": megabytes,
                "data-too-many": _("Choose at most %(most)d pictures.") % {"most": most},
                "data-too-large": _TOO_LARGE % {"most": megabytes},
            }
        )


class PicturesField(forms.Field):
    """A field for files that are neither empty nor too large. The worker checks the content of the files."""

    widget = PicturesInput

    def clean(self, value: Any) -> list[File[bytes]]:
        """Return the files. Raises ValidationError for a file that is empty or too large."""
        files: list[File[bytes]] = value or []
        if any(not each.size for each in files):
            raise forms.ValidationError(_("A file that you chose is empty."))
        if any(each.size > MAX_PICTURE_BYTES for each in files):
            megabytes = MAX_PICTURE_BYTES // (1024 * 1024)
            raise forms.ValidationError(_TOO_LARGE % {"most": megabytes})
        return files


class ReviewForm(Form):
    """The form of a review. `version` is the version of the review that the page showed, or 0."""

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
    pictures = PicturesField(
        label=_("Pictures"),
        required=False,
        help_text=_(
            "Up to six, of 10 MB each: JPEG, PNG, WebP or AVIF. They appear once we’ve checked them."
        ),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    operation = IdempotencyKeyField()

    @classmethod
    def of_review(cls, review: Review | None) -> ReviewForm:
        """Return the form filled with a review; an empty form for None."""
        initial: dict[str, Any] = {"version": 0, "operation": uuid4()}
        if review:
            initial["version"] = review.version
            if review.state != WITHDRAWN:
                initial |= {"stars": str(review.stars), "title": review.title, "body": review.body}
        return cls(initial=initial)

    def show_newer(self, review: Review | None) -> None:
        """Prepare the form to show the typed values again. Sent once more, they replace the present version of the review."""
        self._replace(version=str(review.version if review else 0))

    def begin_again(self) -> None:
        """Prepare the form to be sent again under a new id, because the files of this submit are stored already."""
        self._replace()

    def _replace(self, **values: str) -> None:
        self.data = {**self.data.dict(), "operation": str(uuid4()), **values}  # type: ignore[attr-defined]


class WithdrawForm(Form):
    """The form that withdraws a review, in the version that the page showed."""

    version = forms.IntegerField(min_value=1)
    operation = IdempotencyKeyField()


def _validate_time(value: UUID) -> None:
    # A review's id is a UUID with a time.
    if value.version != 1:
        raise forms.ValidationError(_("Choose a review."))


def _review_field() -> forms.UUIDField:
    complaint = dict.fromkeys(("required", "invalid"), _("Choose a review."))
    return forms.UUIDField(validators=[_validate_time], error_messages=complaint)


class VoteForm(Form):
    """The form that votes for a review, or takes the vote back."""

    review = _review_field()
    helpful = forms.TypedChoiceField(
        choices=(("1", ""), ("0", "")),
        coerce=lambda value: value == "1",
        error_messages={"required": _("Choose a review."), "invalid_choice": _("Choose a review.")},
    )


class ReportForm(Form):
    """Reports a review."""

    review = _review_field()
