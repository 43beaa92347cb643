"""The form and buttons for pinned products, on the pages of categories and of the front page."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self
from uuid import UUID

from django import forms
from django.forms import BoundField
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.product_pages import find_related_ids, status_badge
from adminpanel.forms import short_input
from adminpanel.parameters import parse_id
from catalogue import queries
from catalogue.entities import Product
from catalogue.rules import normalize_sku
from web.forms import Form

# The buttons in a product's row. A product that is not pinned has only the button "pin".
ACTS = ("first", "up", "down", "unpin", "pin")


class PinsChanged(Exception):
    """Raised if somebody else has pinned, unpinned or moved products since the page was shown."""

    def __init__(self) -> None:
        super().__init__(
            _(
                "Someone else has changed this order. It’s shown with your changes. Save again to keep them."
            )
        )


class PinsForm(Form):
    """The form of the pinned products and their places. `shown` are the products' ids in the order that the page showed.

    The fields are named line_0, line_1 …, because the audit log joins fields with such names into one.
    """

    shown = forms.CharField(widget=forms.HiddenInput, required=False, max_length=4000)
    sku = forms.CharField(
        label=gettext_lazy("Pin a product by its SKU"),
        required=False,
        max_length=queries.MAX_SKU_LENGTH,
        help_text=gettext_lazy(
            "The SKU of any of its variants. It’s added after the pinned products."
        ),
        widget=short_input(autocapitalize="characters", spellcheck="false"),
    )

    def __init__(
        self, pinned: Sequence[UUID], most: int, data: Mapping[str, Any] | None = None
    ) -> None:
        self.pinned, self.most = tuple(pinned), most
        super().__init__(data, initial={"shown": " ".join(map(str, pinned))})
        self.button = next((each for each in ACTS if data and each in data), "")
        self.product_id = parse_id(data.get(self.button, "")) if data else None
        self.ids = self._parse_shown() if data is not None else self.pinned
        for place in range(len(self.ids)):
            self.fields[f"line_{place}"] = _place_field(place + 1, most)

    def _parse_shown(self) -> tuple[UUID, ...]:
        ids = (parse_id(each) for each in str(self.data.get("shown", ""))[:4000].split())
        return tuple(dict.fromkeys(each for each in ids if each))[: self.most]

    def rebased(self, pinned: Sequence[UUID], **changes: str) -> Self:
        """Return the form for the products that are pinned now. They keep the places that the user typed for them."""
        data = {**self.data.dict(), "shown": " ".join(map(str, pinned)), **changes}  # type: ignore[attr-defined]
        for place, product_id in enumerate(pinned):
            field = self.place_of(product_id)
            is_typed = field is not None and field.value() != str(self.ids.index(product_id) + 1)
            data[f"line_{place}"] = field.value() if field and is_typed else str(place + 1)
        for button in ACTS:
            data.pop(button, None)
        form = type(self)(pinned, self.most, data)
        form.is_valid()
        return form

    def place_of(self, product_id: UUID) -> BoundField | None:
        """Return the form field for a product's place, or None if the submitted page did not show the product."""
        return self[f"line_{self.ids.index(product_id)}"] if product_id in self.ids else None

    def clean_sku(self) -> UUID | None:
        """Return the id of the product with the typed SKU, or None if none was typed."""
        sku = normalize_sku(self.cleaned_data["sku"])
        ids, unknown = find_related_ids([sku] if sku else [])
        if unknown:
            raise forms.ValidationError(_("No product has the SKU %(sku)s.") % {"sku": sku})
        return ids[0] if ids else None

    def clean(self) -> dict[str, Any]:
        """Require that the product of the pressed pin button exists."""
        if self.button == "pin" and self.product_id and not queries.get_product(self.product_id):
            self.add_error(None, _("This product no longer exists."))
        return self.cleaned_data

    def apply_to(self, pinned: tuple[UUID, ...]) -> tuple[UUID, ...]:
        """Return the pinned ids after the valid form: it sets typed places, pins the typed SKU, then applies the button.

        The button acts on the present pins. Raises PinsChanged if the places were typed for other pins.
        """
        typed = {
            product_id: self.cleaned_data[f"line_{place}"]
            for place, product_id in enumerate(self.ids)
            if self.cleaned_data[f"line_{place}"] != place + 1
        }
        if typed and pinned != self.ids:
            raise PinsChanged
        moved = [each for each in pinned if each not in typed]
        for product_id, place in sorted(typed.items(), key=lambda each: each[1]):
            moved.insert(place - 1, product_id)
        if self.cleaned_data["sku"]:
            moved = list(dict.fromkeys([*moved, self.cleaned_data["sku"]]))
        return _press(tuple(moved), self.button, self.product_id)


def _press(pinned: tuple[UUID, ...], button: str, product_id: UUID | None) -> tuple[UUID, ...]:
    if product_id is None or (product_id in pinned) == (button == "pin"):
        # Somebody else has already pinned or unpinned this product.
        return pinned
    others = [each for each in pinned if each != product_id]
    here = pinned.index(product_id) if product_id in pinned else len(pinned)
    place = {"first": 0, "up": max(0, here - 1), "down": here + 1, "pin": here}.get(button)
    if place is not None:
        others.insert(place, product_id)
    return tuple(others)


def _place_field(place: int, most: int) -> forms.IntegerField:
    return forms.IntegerField(
        label=gettext_lazy("Position"),
        min_value=1,
        max_value=most,
        initial=place,
        widget=short_input("input--tiny", inputmode="numeric"),
        error_messages={
            name: _("Enter a position from 1 to %(most)d") % {"most": most}
            for name in ("required", "invalid", "min_value", "max_value")
        },
    )


@dataclass(frozen=True)
class PinLine:
    """A row with a pinned product. `product` is None if the product no longer exists."""

    product_id: UUID
    product: Product | None
    picture: str
    place: BoundField | None
    status_label: str
    tone: str


def list_pin_lines(
    form: PinsForm, now: datetime, why_hidden: Callable[[Product], str]
) -> Iterator[PinLine]:
    """Yield the rows of the pinned products. `why_hidden` returns why shoppers do not see a pinned product on sale, or ""."""
    found = queries.get_products(form.pinned, queries.leave_out)
    for product_id in form.pinned:
        product = found.get(product_id)
        label, tone = status_badge(product, now) if product else (_("Cannot be shown"), "warn")
        if product and product.is_on_sale(now) and (why := why_hidden(product)):
            label, tone = why, "warn"
        pictures = (each.picture for each in product.variants if each.picture) if product else ()
        yield PinLine(
            product_id, product, next(iter(pictures), ""), form.place_of(product_id), label, tone
        )


def describe_pins(product_ids: Sequence[UUID]) -> str:
    """Return a description of the pinned products for the audit log: the first characters of each id."""
    return " ".join(each.hex[:8] for each in product_ids) or "none"
