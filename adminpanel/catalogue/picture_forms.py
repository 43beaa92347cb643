"""The forms of a product's pictures and of a category's picture."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Self

from django import forms
from django.core.signing import BadSignature, Signer
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.conflicts import get_seen_version
from adminpanel.forms import text_input
from adminpanel.picture_uploads import list_ready_pictures
from catalogue.entities import CategoryNode, PictureUpload, Product, ProductPicture
from catalogue.operations import fingerprint_category_picture
from catalogue.photos import parse_photo
from catalogue.rules import MAX_ALT_LENGTH, MAX_PICTURES
from catalogue.variants import fingerprint_pictures
from web.forms import Form

_PLACES = frozenset(map(str, range(1, MAX_PICTURES + 1)))


@dataclass(frozen=True)
class PictureRow:
    """A row of the page with one picture. `is_new`: the picture is not saved yet, so shoppers do not see it."""

    picture: str
    number: int
    is_new: bool
    is_first: bool
    is_last: bool
    field: forms.BoundField


class PicturesForm(Form):
    """The form of a product's pictures in their order, followed by uploaded pictures without alt text.

    Each picture has a text field. For each text field, the repeated field `picture` says which picture it describes.
    `version` is the fingerprint of the pictures that the page showed (catalogue.variants.fingerprint_pictures).
    """

    def __init__(
        self,
        entries: Sequence[ProductPicture],
        saved: Collection[str],
        version: str,
        data: Mapping[str, str] | None = None,
    ) -> None:
        """`entries` are the pictures of all rows; `saved` are the pictures that the product already has."""
        super().__init__(data)
        self.entries, self.saved, self.version = entries, saved, version
        # The pictures that the product no longer has, with the texts that were typed for them.
        self.gone: list[ProductPicture] = []
        # While the user moves other pictures, a new picture may have no text yet.
        is_saved = self.data.get("act", "save") == "save"
        self.fields.update(
            {
                f"line_{number}": forms.CharField(
                    label=_("What picture %(number)d shows") % {"number": number + 1},
                    required=is_saved or entry.picture in saved,
                    initial=entry.alt,
                    max_length=MAX_ALT_LENGTH,
                    widget=text_input(),
                    error_messages={"required": _("Say what the picture shows")},
                )
                for number, entry in enumerate(entries)
            }
        )

    @classmethod
    def of(cls, product: Product, uploads: Sequence[PictureUpload]) -> Self:
        """Return the form filled in with the pictures of a saved product, and its uploads."""
        new = [ProductPicture(each, "") for each in list_new_pictures(product, uploads)]
        saved = [each.picture for each in product.pictures]
        return cls([*product.pictures, *new], saved, fingerprint_pictures(product.pictures))

    @classmethod
    def sent(cls, product: Product, uploads: Sequence[PictureUpload], data: QueryDict) -> Self:
        """Return the submitted form. The form's `gone` are the pictures that the product no longer has, with their typed texts."""
        known = {each.picture: each.alt for each in product.pictures}
        saved = list(known)
        known |= dict.fromkeys(list_new_pictures(product, uploads), "")
        sent = {each: place for place, each in enumerate(data.getlist("picture")) if each in known}
        typed = {
            f"line_{number}": data.get(f"line_{place}", "")
            for number, place in enumerate(sent.values())
        }
        entries = [ProductPicture(each, known[each]) for each in sent]
        version = get_seen_version(data)
        form = cls(entries, saved, version, typed | {"act": data.get("act", "save")})
        form.gone = [
            ProductPicture(each, words)
            for place, each in enumerate(data.getlist("picture"))
            if each not in known and (words := data.get(f"line_{place}", "").strip())
        ]
        return form

    @property
    def rows(self) -> list[PictureRow]:
        """The rows of the form: each picture with its text field."""
        last = sum(each.picture in self.saved for each in self.entries) - 1
        return [
            PictureRow(
                each.picture,
                number,
                each.picture not in self.saved,
                number == 0,
                number >= last,
                self[f"line_{number}"],
            )
            for number, each in enumerate(self.entries)
        ]

    def typed_entries(self) -> list[ProductPicture]:
        """Return the pictures with the texts that were typed for them. New pictures without a text are left out."""
        typed = [
            replace(each, alt=self.cleaned_data.get(f"line_{number}", ""))
            for number, each in enumerate(self.entries)
        ]
        return [each for each in typed if each.alt or each.picture in self.saved]


def list_new_pictures(product: Product, uploads: Sequence[PictureUpload]) -> list[str]:
    """Return the uploaded pictures that the product does not have yet, without repetitions."""
    saved = {each.picture for each in product.pictures}
    return [each for each in list_ready_pictures(uploads) if each not in saved]


def rearrange(
    entries: Sequence[ProductPicture], act: str, picture: str
) -> tuple[ProductPicture, ...]:
    """Return the pictures after one was moved (`act` is "up", "down", or "to-3" for a place) or removed ("remove")."""
    found = list(entries)
    place = next((at for at, each in enumerate(found) if each.picture == picture), None)
    if place is None:
        return tuple(found)
    entry = found.pop(place)
    if act.startswith("to-"):
        wanted = act.removeprefix("to-")
        found.insert(int(wanted) - 1 if wanted in _PLACES else place, entry)
    elif act != "remove":
        found.insert(max(0, place + (-1 if act == "up" else 1)), entry)
    return tuple(found)


class CategoryPictureForm(Form):
    """The form for one picture of a category: its present picture, or one that staff can choose instead.

    The field `picture` is signed for this category. `version` is the fingerprint of the category's picture that the
    page showed (catalogue.operations.fingerprint_category_picture).
    """

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    picture = forms.CharField(widget=forms.HiddenInput, max_length=200)
    alt = forms.CharField(
        label=gettext_lazy("What the picture shows"),
        max_length=MAX_ALT_LENGTH,
        widget=text_input(),
        error_messages={"required": gettext_lazy("Say what the picture shows")},
    )

    def __init__(self, node: CategoryNode, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.signer = Signer(salt=f"adminpanel.category_picture.{node.category_id}")
        # The stored form of the picture, or "" if its signature is wrong.
        self.text = self._read(str(self["picture"].value() or ""))
        prefix = f"picture-{sha256(self.text.encode()).hexdigest()[:8]}"
        self.auto_id, self.form_id = f"{prefix}-%s", f"{prefix}-form"
        self.is_shown = self.text == node.picture
        # A drawing needs no alt text.
        self.fields["alt"].required = bool(parse_photo(self.text))

    @classmethod
    def of(cls, node: CategoryNode, picture: str, alt: str = "") -> Self:
        """Return the form for one picture of a category: its present picture, or one that staff can choose instead."""
        form = cls(node)
        signed = form.signer.sign(picture)
        version = fingerprint_category_picture(node)
        return cls(node, initial={"picture": signed, "alt": alt, "version": version})

    def _read(self, signed: str) -> str:
        try:
            return self.signer.unsign(signed)
        except BadSignature:
            return ""

    def clean_picture(self) -> str:
        """Return the stored form of the picture. Raises ValidationError if it was not signed for this category."""
        if not self.text:
            raise forms.ValidationError(_("There is no such picture."))
        return self.text
