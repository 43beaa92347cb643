"""The forms of posts, comments and profiles: they turn untrusted input into clean values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from cart.forms import IdempotencyKeyField
from posts.entities import Post, Profile, ShownProduct
from posts.rules import (
    LIKE_TYPES,
    MAX_ABOUT,
    MAX_ALT,
    MAX_BODY,
    MAX_COMMENT,
    MAX_HANDLE,
    MAX_PICTURES,
    MAX_PRODUCTS,
    MAX_TAG,
    MAX_TAGS,
    MIN_HANDLE,
)
from posts.time_ids import make_form_id
from reviews.forms import PicturesField, PicturesInput
from web.forms import Form
from web.text import clean_text

_TAG = re.compile(r"[\w-]*[^\W_][\w-]*")
_ALT = "alt:"  # and the picture's name


class TagsField(forms.CharField):
    """A field for tags, with spaces or commas between them. A leading # is left out."""

    def clean(self, value: Any) -> tuple[str, ...]:
        """Return the tags, casefolded, each once. Raises ValidationError."""
        typed = str(super().clean(value)).casefold()
        tags = tuple(dict.fromkeys(filter(None, re.split(r"[\s,;#]+", typed))))
        if len(tags) > MAX_TAGS:
            raise forms.ValidationError(_("Enter at most %(most)d tags") % {"most": MAX_TAGS})
        for tag in tags:
            if len(tag) > MAX_TAG:
                raise forms.ValidationError(
                    _("Enter tags of at most %(most)d characters") % {"most": MAX_TAG}
                )
            if not _TAG.fullmatch(tag):
                raise forms.ValidationError(
                    _("Use letters, digits and hyphens: “%(tag)s” is no tag") % {"tag": tag}
                )
        return tags


class ShownProductsField(forms.MultipleChoiceField):
    """The products of a post: each value is a product's id and a variant's, with a dot between them."""

    def to_python(self, value: Any) -> list[ShownProduct]:  # type: ignore[override]
        """Return the products, each once. Raises ValidationError."""
        try:
            found = [parse_shown_product(each) for each in value or []]
        except ValueError as error:
            raise forms.ValidationError(_("Choose the products again")) from error
        return list({each.product_id: each for each in found}.values())

    def validate(self, value: list[ShownProduct]) -> None:
        """Refuse too many products. Raises ValidationError."""
        if len(value) > MAX_PRODUCTS:
            raise forms.ValidationError(
                ngettext(
                    "Choose at most %(most)d product",
                    "Choose at most %(most)d products",
                    MAX_PRODUCTS,
                )
                % {"most": MAX_PRODUCTS}
            )


def parse_shown_product(text: str) -> ShownProduct:
    """Return the product that a form's value names. Raises ValueError."""
    product, _dot, variant = text.partition(".")
    return ShownProduct(UUID(product), UUID(variant))


class PostForm(Form):
    """The form of a post. `version` is the version of the post that the page showed, or 0."""

    pictures = PicturesField(
        label=gettext_lazy("Pictures"),
        required=False,
        widget=PicturesInput(MAX_PICTURES, {"data-previews": "previews"}),
        help_text=gettext_lazy(
            "One to eight, of 10 MB each: JPEG, PNG, WebP or AVIF. Others see your post once we have looked at them."
        ),
    )
    body = forms.CharField(
        label=gettext_lazy("Text"),
        help_text=gettext_lazy("What do you show? Leave out links and personal data."),
        max_length=MAX_BODY,
        widget=forms.Textarea({"rows": 5}),
        error_messages={
            "required": gettext_lazy("Enter a text"),
            "max_length": gettext_lazy("Enter a text of up to 5,000 characters"),
        },
    )
    tags = TagsField(
        label=gettext_lazy("Tags"),
        required=False,
        max_length=MAX_TAGS * (MAX_TAG + 2),
        help_text=gettext_lazy("For example: breakfast, ceramics"),
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none"}),
    )
    products = ShownProductsField(label=gettext_lazy("Products"), required=False)
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    operation = IdempotencyKeyField()

    @classmethod
    def of_post(cls, post: Post | None) -> PostForm:
        """Return the form filled with a post; an empty form for None."""
        initial: dict[str, Any] = {"version": 0, "operation": uuid4()}
        if post:
            initial["version"] = post.version
            initial |= {"body": post.body, "tags": ", ".join(post.tags)}
        return cls(initial=initial)

    @property
    def asks_for_products(self) -> bool:
        """Whether the button that searches for products sent the form."""
        return "find" in self.data

    def list_chosen(self, post: Post | None) -> list[ShownProduct]:
        """Return the products that are ticked, or those of the post in a form that was not sent yet."""
        if not self.is_bound:
            return list(post.products) if post else []
        return list_shown_products(self.data.getlist("products"))  # type: ignore[attr-defined]

    def read_alts(self, pictures: Sequence[str]) -> dict[str, str]:
        """Return the typed descriptions of these pictures, keyed by picture; without the empty ones."""
        typed = {each: self.data.get(f"{_ALT}{each}", "") for each in pictures}
        return {
            each: clean_text(text).strip()[:MAX_ALT] for each, text in typed.items() if text.strip()
        }

    def begin_again(self, **values: str) -> None:
        """Prepare the form to show the typed values, and to be sent again under a new id."""
        data = self.data.copy()  # type: ignore[attr-defined]
        for name, value in {"operation": str(uuid4()), **values}.items():
            data[name] = value
        self.data = data


def list_shown_products(values: Sequence[str]) -> list[ShownProduct]:
    """Return the products that a form's values name, without the malformed values."""
    found = []
    for each in values:
        try:
            found.append(parse_shown_product(each))
        except ValueError:
            continue
    return list({each.product_id: each for each in found}.values())[: 2 * MAX_PRODUCTS]


class VersionForm(Form):
    """The form that deletes or hides something, in the version that the page showed."""

    version = forms.IntegerField(min_value=1)
    hidden = forms.BooleanField(required=False)
    operation = IdempotencyKeyField()


class LikeForm(Form):
    """The form that says what a person thinks of a post; "" takes it back."""

    like_type = forms.ChoiceField(choices=[("", ""), *LIKE_TYPES.items()], required=False)
    operation = IdempotencyKeyField()


class FollowForm(Form):
    """The form that follows a person, or stops."""

    follows = forms.BooleanField(required=False)
    operation = IdempotencyKeyField()


class BlockForm(Form):
    """The form that ends the block of a person."""

    person = forms.UUIDField()


class CommentForm(Form):
    """The form of a comment or a reply. `form_id` becomes the id of the comment (posts.time_ids)."""

    body = forms.CharField(
        label=gettext_lazy("Your comment"),
        max_length=MAX_COMMENT,
        widget=forms.Textarea({"rows": 2}),
        error_messages={
            "required": gettext_lazy("Enter a comment"),
            "max_length": gettext_lazy("Enter a comment of up to 1,000 characters"),
        },
    )
    form_id = forms.UUIDField(widget=forms.HiddenInput)
    thread = forms.UUIDField(widget=forms.HiddenInput, required=False)
    partition = forms.IntegerField(widget=forms.HiddenInput, required=False, min_value=0)

    @classmethod
    def for_thread(
        cls, user_id: UUID, thread_id: UUID | None = None, partition: int = 0
    ) -> CommentForm:
        """Return a person's empty form for a reply, or for a new thread."""
        initial = {"form_id": make_form_id(user_id)}
        if thread_id is None:
            return cls(initial=initial)
        form = cls(initial={**initial, "thread": thread_id, "partition": partition})
        form.mark_reply()
        return form

    def mark_reply(self) -> None:
        """Give the fields of a reply their own ids, since a page has many of these forms, and their own words."""
        self.auto_id = f"reply_{self['thread'].value()}_%s"
        self.fields["body"].label = _("Your reply")


class CommentEditForm(Form):
    """The form that changes a comment, in the version that the page showed."""

    body = CommentForm.base_fields["body"]
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=1)
    operation = IdempotencyKeyField()


class ProfileForm(Form):
    """The form of a member's profile."""

    is_public = forms.BooleanField(
        label=gettext_lazy("Show my profile to everybody"), required=False
    )
    handle = forms.CharField(
        label=gettext_lazy("Handle"),
        required=False,
        min_length=MIN_HANDLE,
        max_length=MAX_HANDLE,
        help_text=gettext_lazy(
            "It is in your profile’s address, and others mention you by it: @ada. Letters, digits and underscores."
        ),
        widget=forms.TextInput(
            {
                "autocomplete": "off",
                "autocapitalize": "none",
                "spellcheck": "false",
                "class": "input--short",
            }
        ),
    )
    about = forms.CharField(
        label=gettext_lazy("About you"),
        required=False,
        max_length=MAX_ABOUT,
        widget=forms.Textarea({"rows": 3}),
    )
    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    operation = IdempotencyKeyField()

    @classmethod
    def of_profile(cls, profile: Profile | None) -> ProfileForm:
        """Return the form filled with a profile; an empty form for None."""
        initial: dict[str, Any] = {"version": 0, "operation": uuid4()}
        if profile:
            initial |= {
                "version": profile.version,
                "handle": profile.handle,
                "about": profile.about,
                "is_public": profile.is_public,
            }
        return cls(initial=initial)

    def clean_handle(self) -> str:
        """Return the handle without a leading @."""
        return str(self.cleaned_data["handle"]).removeprefix("@")

    def clean(self) -> dict[str, Any]:
        """Require a handle of a public profile."""
        clean = cast(dict[str, Any], super().clean())
        if self.cleaned_data.get("is_public") and self.cleaned_data.get("handle") == "":
            self.add_error("handle", _("Choose a handle"))
        return clean
