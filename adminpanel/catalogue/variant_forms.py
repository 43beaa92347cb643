"""The forms of a product's variants: one each for values, prices and options."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import moment_field, price_field
from catalogue.entities import Variant
from catalogue.prices import PricePoint, price_in_force
from spreadsheets.typed_values import format_price, parse_end
from web.forms import EntityForm, Form


class PriceForm(EntityForm[Variant]):
    """The form for a variant's price in the list of products.

    `seen` is the variant's fingerprint on the page (catalogue.variants.fingerprint_variant).
    """

    entity_class = Variant
    seen = forms.CharField(widget=forms.HiddenInput, required=False, max_length=64)
    price = price_field(gettext_lazy("Price"), required=True)

    def __init__(self, variant: Variant, seen: str, data: Mapping[str, Any] | None = None) -> None:
        self.variant = variant
        super().__init__(variant, data, initial={"seen": seen}, auto_id=f"{variant.variant_id}-%s")
        # The fields are in the cells of a table, so they are outside the form element.
        for field in self.fields.values():
            field.widget.attrs["form"] = self.form_id

    @property
    def form_id(self) -> str:
        return f"variant-{self.variant.variant_id}"

    @staticmethod
    def describe(variant: Variant) -> dict[str, str]:
        """Return a variant's price in words, keyed by field name."""
        return {"price": format_price(variant.price)}


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
            "The previous price returns then, without a former price. Leave empty for no end."
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
