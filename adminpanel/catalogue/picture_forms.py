"""The forms of a product's pictures and of a category's picture."""

from collections.abc import Mapping, Sequence
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
    """A row of the page with one picture.

    `is_new`: the picture is not saved yet, so shoppers do not see it. `is_unconfirmed`: staff have not confirmed its alt text.
    """

    picture: str
    number: int
    is_new: bool
    is_unconfirmed: bool
    is_first: bool
    is_last: bool
    field: forms.BoundField


class PicturesForm(Form):
    """The form of a product's pictures in their order, followed by uploaded pictures that the product did not take.

    Each picture has a field for its alt text, which offers a suggested text until staff confirm one by saving. For each field,
    the repeated field `picture` says which picture it describes. `version` is the fingerprint of the pictures that the page
    showed (catalogue.variants.fingerprint_pictures).
    """

    def __init__(
        self,
        product: Product,
        entries: Sequence[ProductPicture],
        version: str,
        data: Mapping[str, str] | None = None,
    ) -> None:
        """`entries` are the pictures of all rows, with their saved alt texts."""
        super().__init__(data)
        self.entries, self.version = entries, version
        self.saved = {each.picture for each in product.pictures}
        self.suggested = [
            product.suggest_alt(each.picture)[:MAX_ALT_LENGTH].strip() for each in entries
        ]
        # The pictures that the product no longer has, with the texts that were typed for them.
        self.gone: list[ProductPicture] = []
        self.fields.update(
            {
                f"line_{number}": forms.CharField(
                    label=_("Alt text of picture %(number)d") % {"number": number + 1},
                    required=False,
                    initial=entry.alt or suggested,
                    max_length=MAX_ALT_LENGTH,
                    widget=text_input(),
                )
                for number, (entry, suggested) in enumerate(
                    zip(entries, self.suggested, strict=True)
                )
            }
        )

    @classmethod
    def of(cls, product: Product, uploads: Sequence[PictureUpload]) -> Self:
        """Return the form filled in with the pictures of a saved product, and its uploads."""
        new = [ProductPicture(each, "") for each in list_new_pictures(product, uploads)]
        return cls(product, [*product.pictures, *new], fingerprint_pictures(product.pictures))

    @classmethod
    def sent(cls, product: Product, uploads: Sequence[PictureUpload], data: QueryDict) -> Self:
        """Return the submitted form. The form's `gone` are the pictures that the product no longer has, with their typed texts."""
        known = {each.picture: each.alt for each in product.pictures}
        known |= dict.fromkeys(list_new_pictures(product, uploads), "")
        sent = {each: place for place, each in enumerate(data.getlist("picture")) if each in known}
        typed = {
            f"line_{number}": data.get(f"line_{place}", "")
            for number, place in enumerate(sent.values())
        }
        entries = [ProductPicture(each, known[each]) for each in sent]
        version = get_seen_version(data)
        form = cls(product, entries, version, typed | {"act": data.get("act", "save")})
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
                not each.alt,
                number == 0,
                number >= last,
                self[f"line_{number}"],
            )
            for number, each in enumerate(self.entries)
        ]

    def typed_entries(self) -> list[ProductPicture]:
        """Return the pictures with the texts that were typed for them. Only a save confirms a text that was suggested."""
        is_saved = self.data.get("act", "save") == "save"
        typed = []
        for number, (entry, suggested) in enumerate(zip(self.entries, self.suggested, strict=True)):
            alt = self.cleaned_data.get(f"line_{number}", "")
            is_confirmed = is_saved or entry.alt or alt != suggested
            typed.append(replace(entry, alt=alt if is_confirmed else ""))
        return typed


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
        label=gettext_lazy("Alt text"),
        max_length=MAX_ALT_LENGTH,
        widget=text_input(),
        error_messages={"required": gettext_lazy("Enter the alt text")},
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
            raise forms.ValidationError(_("This picture no longer exists."))
        return self.text
