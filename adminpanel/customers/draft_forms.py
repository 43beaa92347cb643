"""The form of a draft order, and the lines of the order."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from accounts.addresses import Address, address_from_fields
from accounts.forms import AddressFields, SingleLineField
from adminpanel.forms import decimal_field, text_input
from cart.limits import MAX_QUANTITY
from catalogue.entities import Variant
from drafts.entities import DraftDiscount, DraftOrder
from inventory.products_with_stock import ProductWithStock
from mail.forms import email_field
from pricing.delivery import DeliveryMethod, get_default_country, list_delivery_methods
from pricing.quotes import QuotedLine, lines_weight
from promotions.rules import AMOUNT, PERCENTAGE

MAX_LINES = 100
MAX_REASON = 100
UNITS = "units:"
_WHOLE = re.compile(r"[0-9]{1,3}")


@dataclass(frozen=True)
class DraftLine:
    """A line of the draft's form: the typed units, the variant on sale, and the error, if there is one."""

    product_id: UUID
    variant_id: UUID
    typed: str
    product: ProductWithStock
    variant: Variant | None
    saved: QuotedLine | None = None
    error: str = ""

    @property
    def field_name(self) -> str:
        return f"{UNITS}{self.product_id}:{self.variant_id}"

    @property
    def units(self) -> int:
        return int(self.typed) if _WHOLE.fullmatch(self.typed) else 0

    @property
    def quoted(self) -> QuotedLine | None:
        """The line at the variant's present price. If the variant is no longer sold, the line as it was saved."""
        if self.product.product and self.variant:
            return self.product.product.quote_line(self.variant, self.units)
        return self.saved

    @property
    def available(self) -> int:
        stock = self.product.stock.get(self.variant_id)
        return stock.available if stock else 0

    @property
    def total(self) -> Money | None:
        return self.quoted.total if self.quoted and self.variant else None


def parse_product_and_variant(text: str) -> tuple[UUID, UUID] | None:
    """Return the product's and the variant's id from a text "product:variant". Return None if the text has another form."""
    try:
        product_id, variant_id = map(UUID, text.split(":"))
    except ValueError:
        return None
    return product_id, variant_id


def parse_units(data: Mapping[str, Any]) -> dict[tuple[UUID, UUID], str]:
    """Return the typed numbers of units, keyed by (product id, variant id), at most MAX_LINES of them."""
    found: dict[tuple[UUID, UUID], str] = {}
    for name, typed in data.items():
        if not name.startswith(UNITS):
            continue
        if ids := parse_product_and_variant(name.removeprefix(UNITS)):
            found[ids] = str(typed).strip()
    return dict(list(found.items())[:MAX_LINES])


def check_units(typed: str) -> str:
    """Return the reason why a typed number of units is refused, or "" if it is accepted."""
    if _WHOLE.fullmatch(typed) and int(typed) <= MAX_QUANTITY:
        return ""
    return _("Enter a whole number from 0 to %(most)s") % {"most": MAX_QUANTITY}


class DraftForm(AddressFields):
    """The form of a draft's customer, delivery and discount. An offer or an order (`is_final`) needs it complete."""

    field_order = ("email",)
    # The page says which fields an offer or an order needs. So no field is marked as optional.
    hides_needs = True
    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)
    added_to = forms.CharField(required=False, max_length=20, widget=forms.HiddenInput)
    email = email_field("off")
    delivery = forms.ChoiceField(label=gettext_lazy("Delivery method"))
    discount_kind = forms.ChoiceField(
        label=gettext_lazy("Discount"),
        required=False,
        choices=[
            ("", gettext_lazy("None")),
            (PERCENTAGE, gettext_lazy("Per cent")),
            (AMOUNT, gettext_lazy("Amount in euros")),
        ],
    )
    discount_value = decimal_field(
        gettext_lazy("How much"),
        gettext_lazy("Enter a number such as 10 or 12.50"),
        least="0.01",
        most=10_000,
    )
    discount_reason = SingleLineField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=MAX_REASON,
        help_text=gettext_lazy("The customer sees it beside the discount."),
        widget=text_input(),
    )

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        draft: DraftOrder | None = None,
        grams: int = 0,
        is_final: bool = False,
    ) -> None:
        self.is_final = is_final
        super().__init__(data, initial=_initial(draft), auto_id="draft-%s")
        self.methods = [
            each for each in list_delivery_methods(self.shipping_country) if each.takes(grams)
        ]
        choices = [(each.code, each.name) for each in self.methods]
        self.fields["delivery"].choices = choices  # type: ignore[attr-defined]
        self.fields["email"].help_text = gettext_lazy(
            "The offer and the order’s emails go to this address."
        )
        for name, field in self.fields.items():
            if not field.widget.is_hidden:
                field.widget.attrs["autocomplete"] = "off"  # a customer's address
            if not is_final and name != "version":
                field.required = False

    @property
    def shipping_country(self) -> str:
        """The country that was chosen for the delivery, or the default country."""
        return str(self["country"].value() or get_default_country())

    @property
    def method(self) -> DeliveryMethod | None:
        """The chosen delivery method, or else the first possible one. None if no method can deliver the order."""
        chosen = self["delivery"].value()
        first = self.methods[0] if self.methods else None
        return next((each for each in self.methods if each.code == chosen), first)

    def _normalize_field(
        self, cleaned: dict[str, Any], name: str, tidy: Callable[[str], str]
    ) -> None:
        if cleaned[name] or self.is_final:
            super()._normalize_field(cleaned, name, tidy)

    def clean_delivery(self) -> str:
        """Require a delivery method that can deliver the order."""
        if self.is_final and not self.methods:
            raise forms.ValidationError(
                _("No delivery method takes an order of this weight there.")
            )
        return str(self.cleaned_data["delivery"])

    def clean(self) -> dict[str, Any]:
        """Require that a discount is complete, and at most 100 per cent."""
        cleaned = super().clean()
        kind, value = cleaned.get("discount_kind"), cleaned.get("discount_value")
        if kind and value is None and "discount_value" not in self.errors:
            self.add_error("discount_value", _("Enter the discount"))
        if kind == PERCENTAGE and value and value > 100:
            self.add_error("discount_value", _("Enter at most 100 per cent"))
        if kind and not cleaned.get("discount_reason") and "discount_reason" not in self.errors:
            self.add_error("discount_reason", _("Enter a reason for the customer"))
        if not kind and value:
            self.add_error("discount_kind", _("Choose per cent or an amount"))
        return cleaned

    def build_draft(
        self, draft_id: UUID, lines: Iterable[QuotedLine], billing: Address | None
    ) -> DraftOrder:
        """Return the draft order that the valid form describes."""
        clean = self.cleaned_data
        kind = clean["discount_kind"]
        return DraftOrder(
            draft_id=draft_id,
            email=clean["email"],
            address=address_from_fields({**clean, "country": self.shipping_country}),
            lines=tuple(lines),
            method_code=self.method.code if self.method else "",
            discount=DraftDiscount(kind, clean["discount_value"], clean["discount_reason"])
            if kind
            else None,
            billing_address=billing,
            added_to=clean["added_to"],
        )

    def describe_values(self) -> dict[str, str]:
        """Return the values of the fields, keyed by label, for a conflict."""
        return {str(field.label): _describe_value(field) for field in self.visible_fields()}


def _describe_value(field: forms.BoundField) -> str:
    value = str(field.value() or "")
    return str(dict(getattr(field.field, "choices", ())).get(value, value)) if value else ""


def _initial(draft: DraftOrder | None) -> dict[str, Any]:
    if draft is None:
        return {"version": 0, "country": get_default_country()}
    discount = draft.discount
    address = draft.address.stored_fields()
    return {
        **address,
        "country": address["country"] or get_default_country(),
        "version": draft.version,
        "added_to": draft.added_to,
        "email": draft.email,
        "delivery": draft.method_code,
        "discount_kind": discount.kind if discount else "",
        "discount_value": discount.value if discount else None,
        "discount_reason": discount.reason if discount else "",
    }


def weigh(lines: Iterable[DraftLine]) -> int:
    """Return the total weight of the lines, in grams."""
    return lines_weight(each.quoted for each in lines if each.quoted and each.variant)
