"""The forms of new products and of existing products."""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Self, cast
from uuid import UUID, uuid4

from django import forms
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import (
    CategoryField,
    category_choices,
    make_column_field,
    number_field,
    price_field,
    refuse_in_form,
    sku_field,
)
from adminpanel.catalogue.labels import TAX_LABELS
from adminpanel.forms import short_input, split_lines, text_input
from catalogue import rules
from catalogue.columns import COLUMNS, COLUMNS_BY_NAME, END, MOMENT, NUMBER
from catalogue.entities import Product, Variant
from spreadsheets.typed_values import (
    format_details,
    format_tags,
    keep_moment,
    parse_details,
    parse_tags,
)
from web.forms import Form

FIELD_COLUMNS = tuple(each.name for each in COLUMNS if each.form)
SECTIONS = {
    section: [each.name for each in COLUMNS if each.form and each.form.section == section]
    for section in ("sale", "size", "safety", "search")
}


def make_slug(text: str, most: int = rules.MAX_LENGTHS["slug"]) -> str:
    """Return a text converted for the end of an address, or "" if the text has no letters or digits."""
    words = re.findall(r"[a-z0-9]+", slugify(text).lower())
    return "-".join(words)[:most].rstrip("-")


class NewProductForm(Form):
    """The form of a new product: a draft with one variant. The page makes the ids of the product and the variant."""

    product_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    variant_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    name = make_column_field("name")
    category_id = CategoryField(label=gettext_lazy("Category"))
    brand = make_column_field("brand")
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
        return rules.normalize_sku(self.cleaned_data["sku"])

    def build_product(self) -> Product:
        """Return the draft product. Its address is derived from its name, or from the SKU if the name has no letters."""
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
    """The form of a product, without its variants. `version` is the fingerprint that its page showed.

    `fingerprint_product` makes the fingerprint. Each of the columns in catalogue.columns adds a field.
    """

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
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
        widget=text_input(),
    )
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
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax"), choices=list(TAX_LABELS.items()))
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=rules.MAX_LENGTHS["slug"],
        help_text=gettext_lazy("The end of its page’s address. The former one leads here."),
        widget=text_input(autocapitalize="none", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter an address")},
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = category_choices()
        for name in ("category_id", "category_ids"):
            cast(forms.ChoiceField, self.fields[name]).choices = choices

    @property
    def sections(self) -> dict[str, list[forms.BoundField]]:
        """The fields of the columns, keyed by section of the page."""
        return {section: [self[name] for name in names] for section, names in SECTIONS.items()}

    @classmethod
    def of(cls, product: Product, related_skus: Sequence[str], successor: str = "") -> Self:
        """Return the form filled in with a saved product, the SKUs of its related products, and its successor's SKU."""
        initial = {name: getattr(product, name) for name in SHARED_FIELDS} | {
            "version": fingerprint_product(product),
            "details": format_details(product.details),
            "category_id": str(product.category_id),
            "category_ids": [str(each) for each in product.category_ids],
            "tags": format_tags(product.tags),
            "related": "\n".join(related_skus),
            "successor": successor,
        }
        return cls(initial=initial)

    def clean_details(self) -> dict[str, str]:
        """Return the product's details, keyed by label, in the typed order."""
        return refuse_in_form(parse_details, self.cleaned_data["details"])

    def clean_tags(self) -> frozenset[str]:
        return parse_tags(self.cleaned_data["tags"])

    def clean_related(self) -> tuple[str, ...]:
        skus = tuple(map(rules.normalize_sku, split_lines(self.cleaned_data["related"])))
        if len(skus) > rules.MAX_PINNED:
            raise forms.ValidationError(
                _("Enter %(most)d SKUs at most.") % {"most": rules.MAX_PINNED}
            )
        return skus

    def clean_successor(self) -> str:
        return rules.normalize_sku(self.cleaned_data["successor"])

    def apply_to(
        self, product: Product, related_ids: tuple[UUID, ...], successor_id: UUID | None
    ) -> Product:
        """Return the product changed as the valid form says."""
        clean = self.cleaned_data
        return replace(
            product,
            **{name: _typed_value(name, clean[name], product) for name in SHARED_FIELDS},
            details=clean["details"],
            category_id=UUID(clean["category_id"]),
            category_ids=frozenset(map(UUID, clean["category_ids"])) - {UUID(clean["category_id"])},
            tags=clean["tags"],
            related_ids=related_ids,
            successor_id=successor_id,
        )


# Fields that have the same name in the form and in the product.
SHARED_FIELDS = ("slug", "tax_class", *FIELD_COLUMNS)
# The order in which the page shows the fields and their errors.
FIELD_ORDER = (
    *("version", "name", "description", "brand", "details", "category_id", "category_ids", "tags"),
    *("featured", "related", "successor", *SECTIONS["sale"], "tax_class", *SECTIONS["size"]),
    *(*SECTIONS["safety"], "slug", *SECTIONS["search"]),
)
ProductForm.base_fields = {
    name: make_column_field(name) if name in FIELD_COLUMNS else ProductForm.declared_fields[name]
    for name in FIELD_ORDER
}


def _typed_value(name: str, value: Any, product: Product) -> Any:
    """Return the value to save for a field: 0 for an empty number, the saved value for an unchanged time."""
    kind = COLUMNS_BY_NAME[name].kind
    if kind is NUMBER:
        return value or 0
    return keep_moment(value, getattr(product, name)) if kind in (MOMENT, END) else value


def fingerprint_product(product: Product) -> str:
    """Return a hash of all values that the product's form shows."""
    plain = [getattr(product, name) for name in SHARED_FIELDS]
    lists = [list(product.details.items()), product.all_category_ids, sorted(product.tags)]
    return sha256(
        repr([plain, lists, product.related_ids, product.successor_id]).encode()
    ).hexdigest()[:16]
