"""The form of a product, new or existing, without its options and variants (adminpanel.catalogue.variant_grid)."""

import re
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any, Self, cast
from uuid import UUID, uuid4, uuid5

from django import forms
from django.http import QueryDict
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import (
    CategoryField,
    category_choices,
    make_column_field,
    refuse_in_form,
)
from adminpanel.catalogue.labels import TAX_LABELS
from adminpanel.forms import short_input, split_lines, text_input
from catalogue import rules
from catalogue.columns import COLUMNS, COLUMNS_BY_NAME, END, MOMENT, NUMBER
from catalogue.entities import Product
from catalogue.unit_prices import UNITS
from catalogue.variants import fingerprint_variant
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


class ProductForm(Form):
    """The form of a product, without its variants. `version` is the fingerprint that its page showed.

    `fingerprint_product` makes the fingerprint. Each of the columns in catalogue.columns adds a field. `save_id` is unique to the
    page, so a save is made once. The page makes the id of a new product.
    """

    version = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    save_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    product_id = forms.UUIDField(widget=forms.HiddenInput, initial=uuid4)
    unit = forms.ChoiceField(
        label=gettext_lazy("Unit of the content"),
        required=False,
        choices=[
            ("", gettext_lazy("No unit price")),
            *((key, each.name) for key, each in UNITS.items()),
        ],
        help_text=gettext_lazy("For the unit price, such as “€12.40 / 100 g”."),
    )
    stock_reason = forms.CharField(
        label=gettext_lazy("Reason for stock changes"),
        required=False,
        max_length=200,
        widget=text_input(),
    )
    details = forms.CharField(
        label=gettext_lazy("Details"),
        required=False,
        help_text=gettext_lazy("One per line, such as “Material: stoneware”."),
        widget=forms.Textarea({"rows": 5}),
    )
    category_id = CategoryField(label=gettext_lazy("Main category"))
    category_ids = forms.MultipleChoiceField(
        label=gettext_lazy("Also in"),
        required=False,
        help_text=gettext_lazy("Also listed in these categories and their parents."),
        widget=forms.SelectMultiple({"size": 6}),
    )
    tags = forms.CharField(
        label=gettext_lazy("Tags"),
        required=False,
        help_text=gettext_lazy("Separated by commas. The search finds them."),
        widget=text_input(),
    )
    related = forms.CharField(
        label=gettext_lazy("Related products"),
        required=False,
        help_text=gettext_lazy("One SKU per line. Other products are added automatically."),
        widget=forms.Textarea({"rows": 3, "autocapitalize": "characters", "spellcheck": "false"}),
    )
    successor = forms.CharField(
        label=gettext_lazy("Replacement"),
        required=False,
        max_length=64,
        help_text=gettext_lazy("SKU of the product to offer once this one is archived."),
        widget=short_input(autocapitalize="characters", spellcheck="false"),
    )
    tax_class = forms.ChoiceField(label=gettext_lazy("Tax rate"), choices=list(TAX_LABELS.items()))
    slug = forms.CharField(
        label=gettext_lazy("Address"),
        max_length=rules.MAX_LENGTHS["slug"],
        required=False,
        help_text=gettext_lazy("The end of the page’s address. Former addresses redirect to it."),
        widget=text_input(autocapitalize="none", spellcheck="false"),
        error_messages={"required": gettext_lazy("Enter an address")},
    )

    def __init__(self, *args: Any, is_new: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        choices = category_choices()
        self.has_categories = bool(choices)
        for name in ("category_id", "category_ids"):
            cast(forms.ChoiceField, self.fields[name]).choices = choices
        if is_new:
            main = cast(forms.ChoiceField, self.fields["category_id"])
            main.choices = [("", _("Choose a category")), *choices]
        else:
            del self.fields["product_id"]
            self.fields["slug"].required = True

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
SHARED_FIELDS = ("slug", "tax_class", "unit", *FIELD_COLUMNS)
# Sent fields that do not change what is saved.
UNSAVED = frozenset({"csrfmiddlewaretoken", "act"})
# The order in which the page shows the fields and their errors.
FIELD_ORDER = (
    *(
        "version",
        "save_id",
        "product_id",
        "name",
        "description",
        "brand",
        "details",
        "category_id",
        "category_ids",
        "tags",
    ),
    *("featured", "related", "successor", "unit", "stock_reason"),
    *(*SECTIONS["safety"], *SECTIONS["sale"], "tax_class", *SECTIONS["size"]),
    *("slug", *SECTIONS["search"]),
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


def make_save_id(save_id: UUID, data: QueryDict) -> UUID:
    """Return the id of the save that a form asks for: the same only if the same page sends the same texts again."""
    sent = sorted((name, values) for name, values in data.lists() if name not in UNSAVED)
    return uuid5(save_id, sha256(repr(sent).encode()).hexdigest())


def fingerprint_status(product: Product) -> str:
    """Return a text that changes with a product's status and with all else that its page lets staff change."""
    return f"{product.status}-{fingerprint_product(product)}"


def fingerprint_product(product: Product) -> str:
    """Return a hash of all values that the product's page lets staff change, but for its stock and pictures."""
    plain = [getattr(product, name) for name in SHARED_FIELDS]
    lists = [list(product.details.items()), product.all_category_ids, sorted(product.tags)]
    variants = [(each.variant_id, fingerprint_variant(each)) for each in product.variants]
    shown = [
        plain,
        lists,
        product.related_ids,
        product.successor_id,
        product.option_names,
        variants,
    ]
    return sha256(repr(shown).encode()).hexdigest()[:16]
