"""The forms of a new product and of one that is there. Variants have theirs in variant_forms.py."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import (
    CategoryField,
    category_choices,
    moment_field,
    number_field,
    price_field,
    refuse_in_form,
    sku_field,
)
from adminpanel.catalogue.labels import TAX_LABELS
from adminpanel.forms import short_input
from catalogue import rules
from catalogue.entities import Product, Variant
from spreadsheets.typed_values import (
    format_details,
    format_tags,
    keep_moment,
    parse_details,
    parse_end,
    parse_tags,
)
from web.forms import Form

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


def _text(
    label: StrOrPromise, name: str, hint: StrOrPromise = "", rows: int = 0
) -> forms.CharField:
    """An optional text of a product, as long as the catalogue allows."""
    widget = forms.Textarea({"rows": rows}) if rows else forms.TextInput({"autocomplete": "off"})
    return forms.CharField(
        label=label,
        required=False,
        max_length=rules.MAX_LENGTHS[name],
        help_text=hint,
        widget=widget,
    )


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def make_slug(text: str, most: int = rules.MAX_LENGTHS["slug"]) -> str:
    """Return a text as the end of an address; empty if it has no letter or digit for one."""
    words = re.findall(r"[a-z0-9]+", slugify(text).lower())
    return "-".join(words)[:most].rstrip("-")


class NewProductForm(Form):
    """A new product: a draft with one variant, under ids that were made with the page."""

    product_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    variant_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=rules.MAX_LENGTHS["name"],
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    category_id = CategoryField(label=gettext_lazy("Category"))
    brand = _text(gettext_lazy("Brand"), "brand")
    sku = sku_field()
    price = price_field(gettext_lazy("Price"), required=True, hint=gettext_lazy("With tax."))
    weight_grams = number_field(
        gettext_lazy("Weight in grams"),
        rules.MAX_WEIGHT_GRAMS,
        gettext_lazy("With its packaging. Delivery costs depend on it."),
    )
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax"), choices=list(TAX_LABELS.items()))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        category = cast(forms.ChoiceField, self.fields["category_id"])
        choices = category_choices()
        self.has_categories = bool(choices)
        category.choices = [("", _("Choose a category")), *choices]

    def clean_sku(self) -> str:
        """Return the SKU as products carry it."""
        return rules.normalize_sku(self.cleaned_data["sku"])

    def build_product(self) -> Product:
        """Return the draft. Its address is made of the name, or of the SKU if the name has no letters."""
        clean = self.cleaned_data
        return Product(
            product_id=clean["product_id"],
            slug=make_slug(clean["name"]) or make_slug(clean["sku"]) or clean["product_id"].hex,
            name=clean["name"],
            brand=clean["brand"],
            description="",
            details={},
            category_id=UUID(clean["category_id"]),
            option_names=(),
            tax_class=clean["tax_class"],
            variants=(
                Variant(
                    clean["variant_id"],
                    clean["sku"],
                    {},
                    clean["price"],
                    None,
                    "",
                    weight_grams=clean["weight_grams"] or 0,
                ),
            ),
            status="draft",
        )


class ProductForm(Form):
    """A product without its variants. `version` is its fingerprint on the page (`fingerprint_product`)."""

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    name = forms.CharField(
        label=gettext_lazy("Name"),
        max_length=rules.MAX_LENGTHS["name"],
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    description = _text(
        gettext_lazy("Description"),
        "description",
        gettext_lazy(
            "**bold**, *italic*, “- ” before each line of a list, “# ” before a heading, [a link](https://…)."
        ),
        rows=8,
    )
    brand = _text(gettext_lazy("Brand"), "brand")
    details = forms.CharField(
        label=gettext_lazy("Details"),
        required=False,
        help_text=gettext_lazy("One a line, such as “Material: stoneware”."),
        widget=forms.Textarea({"rows": 5}),
    )
    category_id = CategoryField(label=gettext_lazy("Main category"))
    category_ids = forms.MultipleChoiceField(
        label=gettext_lazy("Also in"),
        required=False,
        help_text=gettext_lazy(
            "It stands in these, too, and in the categories above each of them."
        ),
        widget=forms.SelectMultiple({"size": 6}),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        help_text=gettext_lazy("Words by which it is found, with commas between them."),
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    featured = forms.BooleanField(label=gettext_lazy("Show it on the front page"), required=False)
    related = forms.CharField(
        label=gettext_lazy("Related products"),
        required=False,
        help_text=gettext_lazy(
            "SKUs, one a line, in the order to show. The shop fills the row up by itself."
        ),
        widget=forms.Textarea({"rows": 3, "autocapitalize": "characters", "spellcheck": "false"}),
    )
    successor = forms.CharField(
        label=gettext_lazy("Followed by"),
        required=False,
        max_length=64,
        help_text=gettext_lazy("A SKU of the product that its page offers once it’s gone."),
        widget=short_input(autocapitalize="characters", spellcheck="false"),
    )
    active_from = moment_field(
        gettext_lazy("On sale from"), gettext_lazy("Leave empty to start as soon as it is active.")
    )
    active_until = moment_field(
        gettext_lazy("On sale until"), gettext_lazy("Leave empty for no end."), parse=parse_end
    )
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax"), choices=list(TAX_LABELS.items()))
    length_mm = number_field(gettext_lazy("Length in mm"), rules.MAX_LENGTH_MM)
    width_mm = number_field(gettext_lazy("Width in mm"), rules.MAX_LENGTH_MM)
    height_mm = number_field(gettext_lazy("Height in mm"), rules.MAX_LENGTH_MM)
    maker = _text(
        gettext_lazy("Maker"),
        "maker",
        gettext_lazy("Name, postal and email address, as EU law asks (GPSR, Article 19)."),
        rows=3,
    )
    safety = _text(gettext_lazy("Warnings and safety notes"), "safety", rows=3)
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=rules.MAX_LENGTHS["slug"],
        help_text=gettext_lazy("The end of its page’s address. The former one leads here."),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}
        ),
        error_messages={"required": gettext_lazy("Enter an address")},
    )
    search_title = _text(
        gettext_lazy("Title for search engines"),
        "search_title",
        gettext_lazy("The name, if this is empty."),
    )
    search_description = _text(
        gettext_lazy("Description for search engines"),
        "search_description",
        gettext_lazy("The description’s beginning, if this is empty."),
        rows=2,
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = category_choices()
        for name in ("category_id", "category_ids"):
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @classmethod
    def of(cls, product: Product, related_skus: Sequence[str], successor: str = "") -> ProductForm:
        """Return the form of a product as it is, with the SKUs of those that it names."""
        initial = {name: getattr(product, name) for name in PLAIN_FIELDS} | {
            "version": fingerprint_product(product),
            "details": format_details(product.details),
            "category_id": str(product.category_id),
            "category_ids": [str(each) for each in product.category_ids],
            "tags": format_tags(product.tags),
            "related": "\n".join(related_skus),
            "successor": successor,
            **{name: getattr(product, name) for name in LENGTH_FIELDS},
        }
        return cls(initial=initial)

    def clean_details(self) -> dict[str, str]:
        """Return the details by their labels, in their order."""
        return refuse_in_form(parse_details, self.cleaned_data["details"])

    def clean_tags(self) -> frozenset[str]:
        """Return the tags."""
        return parse_tags(self.cleaned_data["tags"])

    def clean_related(self) -> tuple[str, ...]:
        """Return the SKUs."""
        skus = tuple(
            rules.normalize_sku(line) for line in _split_lines(self.cleaned_data["related"])
        )
        if len(skus) > rules.MAX_PINNED:
            raise forms.ValidationError(
                _("Enter %(most)d SKUs at most.") % {"most": rules.MAX_PINNED}
            )
        return skus

    def clean_successor(self) -> str:
        """Return the SKU as products carry it."""
        return rules.normalize_sku(self.cleaned_data["successor"])

    def apply_to(
        self, product: Product, related_ids: tuple[UUID, ...], successor_id: UUID | None
    ) -> Product:
        """Return the product with what the valid form says."""
        clean = self.cleaned_data
        values: dict[str, Any] = {name: clean[name] for name in PLAIN_FIELDS}
        values |= {name: clean[name] or 0 for name in LENGTH_FIELDS}
        values |= {name: keep_moment(clean[name], getattr(product, name)) for name in DATE_FIELDS}
        return replace(
            product,
            **values,
            details=clean["details"],
            category_id=UUID(clean["category_id"]),
            category_ids=frozenset(map(UUID, clean["category_ids"])) - {UUID(clean["category_id"])},
            tags=clean["tags"],
            related_ids=related_ids,
            successor_id=successor_id,
        )


LENGTH_FIELDS = ("length_mm", "width_mm", "height_mm")
DATE_FIELDS = ("active_from", "active_until")
# Of the form, and of the product under the same name.
PLAIN_FIELDS = (
    *("name", "description", "brand", "featured", *DATE_FIELDS, "tax_class"),
    *("maker", "safety", "slug", "search_title", "search_description"),
)


def fingerprint_product(product: Product) -> str:
    """Return a short text that differs when anything differs that the form of a product shows."""
    plain = [getattr(product, name) for name in (*PLAIN_FIELDS, *LENGTH_FIELDS)]
    lists = [list(product.details.items()), product.all_category_ids, sorted(product.tags)]
    return sha256(
        repr([plain, lists, product.related_ids, product.successor_id]).encode()
    ).hexdigest()[:16]


# ---- Its variants
