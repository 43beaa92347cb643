"""The forms of a product's variants: one each for values, prices and options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from adminpanel.catalogue.fields import (
    moment_field,
    number_field,
    price_field,
    refuse_in_form,
    sku_field,
)
from adminpanel.forms import short_input
from catalogue import rules
from catalogue.entities import ProductPicture, Variant
from catalogue.prices import PricePoint, price_in_force
from spreadsheets.typed_values import (
    format_price,
    format_whole_number,
    parse_barcode,
    parse_end,
    parse_option_values,
)
from web.forms import EntityForm, Form


class VariantForm(EntityForm[Variant]):
    """The form of a variant. `seen` is the variant's fingerprint on the page (catalogue.variants.fingerprint_variant)."""

    entity_class = Variant
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    sku = sku_field()
    price = price_field(gettext_lazy("Price"), required=True)
    compare_at = price_field(gettext_lazy("Former price"), required=False)
    barcode = forms.CharField(
        label=gettext_lazy("Barcode"),
        required=False,
        max_length=20,
        widget=short_input(inputmode="numeric"),
    )
    weight_grams = number_field(gettext_lazy("Weight in grams"), rules.MAX_WEIGHT_GRAMS)
    picture = forms.ChoiceField(
        label=gettext_lazy("Picture"),
        required=False,
        error_messages={"invalid_choice": gettext_lazy("Choose one of the product’s pictures")},
    )
    sold = forms.BooleanField(label=gettext_lazy("Sold"), required=False)

    def __init__(
        self,
        variant: Variant,
        seen: str,
        data: Mapping[str, Any] | None = None,
        pictures: Sequence[ProductPicture] = (),
    ) -> None:
        self.variant = variant
        super().__init__(variant, data, initial={"seen": seen}, auto_id=f"{variant.variant_id}-%s")
        if "picture" in self.fields:
            choices = _picture_choices(variant, pictures)
            cast(forms.ChoiceField, self.fields["picture"]).choices = choices
        # The fields are in the cells of a table, so they are outside the form element.
        for field in self.fields.values():
            field.widget.attrs["form"] = self.form_id

    @property
    def form_id(self) -> str:
        return f"variant-{self.variant.variant_id}"

    @staticmethod
    def describe(variant: Variant) -> dict[str, str]:
        """Return a variant's values in words, keyed by field name."""
        return {
            "sku": variant.sku,
            "price": format_price(variant.price),
            "compare_at": format_price(variant.compare_at),
            "barcode": variant.barcode,
            "weight_grams": format_whole_number(variant.weight_grams),
            "picture": variant.picture,
            "sold": _("yes") if variant.sold else _("no"),
        }

    def clean_sku(self) -> str:
        return rules.normalize_sku(self.cleaned_data["sku"])

    def clean_compare_at(self) -> Money | None:
        """Return the former price, or None if 0 was typed."""
        return self.cleaned_data["compare_at"] or None

    def clean_weight_grams(self) -> int:
        """Return the weight in grams. An empty field means 0."""
        return self.cleaned_data["weight_grams"] or 0

    def clean_barcode(self) -> str:
        return parse_barcode(self.cleaned_data["barcode"])

    def clean_picture(self) -> str:
        """Return the chosen picture. If the page offered no choice, return the variant's present picture."""
        return str(self.cleaned_data["picture"] if "picture" in self.data else self.variant.picture)


def _picture_choices(variant: Variant, pictures: Sequence[ProductPicture]) -> list[tuple[str, str]]:
    """Return the pictures that a variant can show: the product's first picture, another of its pictures, or a drawing."""
    found = {"": _("The product’s first") if pictures else _("None")}
    if variant.picture:
        found[variant.picture] = _("A drawing")
    return list((found | {each.picture: each.alt for each in pictures}).items())


class PriceForm(VariantForm):
    """The form for a variant's price only. The list of products shows it in the product's row."""

    sku = compare_at = barcode = weight_grams = picture = sold = None  # type: ignore[assignment]


class PlannedPriceForm(Form):
    """The form that plans a price with a start and possibly an end. `seen` is the variant's fingerprint on the page."""

    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    price = price_field(gettext_lazy("Price"), required=True, hint=gettext_lazy("With tax."))
    compare_at = price_field(
        gettext_lazy("Former price, crossed out"),
        required=False,
        hint=gettext_lazy(
            "At most the lowest price of the 30 days before. Leave empty to cross out nothing."
        ),
    )
    starts = moment_field(gettext_lazy("From"), required=True)
    ends = moment_field(
        gettext_lazy("Until"),
        gettext_lazy(
            "Then the price from before comes back, with nothing crossed out. Leave empty for no end."
        ),
        parse=parse_end,
    )

    def clean(self) -> dict[str, Any]:
        """Require that the end is later than the start."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if clean.get("starts") and clean.get("ends") and clean["ends"] <= clean["starts"]:
            self.add_error("ends", _("Enter a time after the first one"))
        return clean

    def plan_for(self, variant: Variant, now: datetime) -> tuple[PricePoint, ...]:
        """Return a variant's planned prices with the form's price, which replaces prices planned within its duration."""
        clean = self.cleaned_data
        starts, ends = clean["starts"], clean["ends"]
        points = [
            PricePoint(variant.price_from or now, variant.price, variant.compare_at),
            *variant.planned,
        ]
        planned = [PricePoint(starts, clean["price"], clean["compare_at"] or None)]
        kept = [each for each in variant.planned if each.starts_at < starts]
        if ends:
            after = price_in_force(points, ends)
            # At the end, the earlier price returns, unless another price starts before the end.
            is_back = after == price_in_force(points, starts)
            back = replace(after, compare_at=None, back_to=starts) if is_back else after
            planned.append(replace(back, starts_at=ends))
            kept += [each for each in variant.planned if each.starts_at > ends]
        else:
            kept += [each for each in variant.planned if each.starts_at > starts]
        return tuple(sorted((*kept, *planned), key=lambda each: each.starts_at))


class OptionsForm(Form):
    """The form of a product's options, from which its variants are generated."""

    options = forms.CharField(
        label=gettext_lazy("Options and their values"),
        required=False,
        max_length=rules.MAX_FORM_CHARACTERS,
        help_text=gettext_lazy(
            "One option a line, such as “Colour: Oat, Slate”. Every combination is a variant."
        ),
        widget=forms.Textarea({"rows": 4}),
    )

    def clean_options(self) -> dict[str, tuple[str, ...]]:
        """Return the values of each option, in the typed order."""
        return refuse_in_form(parse_option_values, self.cleaned_data["options"])
