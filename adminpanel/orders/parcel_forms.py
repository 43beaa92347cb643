"""The forms of an order's parcels: pack, ship, record the outcome, or correct the tracking number.

The forms that pack and ship have the fields of carrier and tracking number. static/js/orders.js proposes the carrier.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, cast

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import text_input
from adminpanel.orders.forms import WHOLE_NUMBER, OrderForm, UnitsField, line_contents
from catalogue.queries import MAX_SKU_LENGTH
from orders.lifecycle import parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import Parcel
from orders.lifecycle.states import TRANSITION_RULES

TRACKING = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./-]*")


class PackForm(OrderForm):
    """The form of a new parcel from a warehouse. The first scanned SKU clears all lines. Each scan then adds a unit.

    `is_counted` moves the focus to the scanner's field after a scan.
    """

    scan = forms.CharField(
        label=gettext_lazy("Scan the items"),
        required=False,
        max_length=MAX_SKU_LENGTH,
        help_text=gettext_lazy("Scan a barcode, or type a SKU and press Enter, to count one unit."),
        widget=text_input(autocapitalize="characters", spellcheck="false"),
    )
    scanning = forms.CharField(widget=forms.HiddenInput, required=False, max_length=1)

    def __init__(
        self,
        order: Order,
        warehouse: str,
        items: Iterable[Item],
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(order, f"pack-{warehouse}", data, carrier=order.method.carrier)
        self.warehouse, self.is_counted = warehouse, False
        self.fields |= {"carrier": CarrierField(), "tracking": TrackingField()}
        self.add_unit_fields(line_contents(items, order.units_to_pack.get(warehouse, {})))

    def clean(self) -> dict[str, Any]:
        """Require that the parcel contains units."""
        cleaned = super().clean() or self.cleaned_data
        self.require_some_units()
        return cleaned

    @property
    def is_scanning(self) -> bool:
        """Whether the lines contain scanned units. Otherwise they contain all unpacked units."""
        return str(self["scanning"].value()) == "1"

    @property
    def full_names(self) -> set[str]:
        """The names of the fields in lines whose units are all scanned."""
        return {
            field.name
            for _item, field in self.lines
            if self.is_scanning and _count(field) == _most(field)
        }

    def count_scan(self) -> bool:
        """Add a unit of the scanned SKU to the form. Return whether it fits in the parcel; if not, the field has an error."""
        self.full_clean()
        self.is_counted = True
        sku = self.cleaned_data.get("scan", "").upper()
        if not sku:
            return True  # Enter in another field pressed the form's first button
        found = [field for item, field in self.lines if item.sku == sku]
        counted = {
            field.name: _count(field) if self.is_scanning else 0 for _item, field in self.lines
        }
        wanting = next((each for each in found if counted[each.name] < _most(each)), None)
        if wanting is None:
            most = sum(map(_most, found))
            self.add_error(
                "scan",
                _("All of %(sku)s packed: %(units)d") % {"units": most, "sku": sku}
                if found
                else _("%(sku)s isn’t in this order") % {"sku": sku},
            )
            return False
        counted[wanting.name] += 1
        texts = {name: str(units or "") for name, units in counted.items()}
        self.keep_typed(**texts, scan="", scanning="1")
        self.full_clean()
        return True


def _count(field: forms.BoundField) -> int:
    """Return the number of units in a line's field, or 0 if the text is no number."""
    text = str(field.value() or "")
    return int(text) if WHOLE_NUMBER.fullmatch(text) else 0


def _most(field: forms.BoundField) -> int:
    return cast(UnitsField, field.field).most


class CarrierField(forms.CharField):
    """A field for a parcel's carrier. The page lists the known carriers."""

    def __init__(self) -> None:
        super().__init__(
            label=_("Carrier"), max_length=40, required=False, widget=text_input(list="carriers")
        )


class TrackingField(forms.CharField):
    """A field for a carrier's tracking number: typed, pasted or scanned.

    `data-tracking` is what static/js/orders.js says when pasted lines do not fit.
    """

    def __init__(self, label: str = "") -> None:
        super().__init__(
            label=label or _("Tracking number"),
            max_length=60,
            required=False,
            widget=text_input(
                spellcheck="false",
                **{"data-tracking": _("These lines don’t fit the orders. Nothing was pasted.")},
            ),
        )

    def clean(self, value: Any) -> str:
        """Return the tracking number. Raises ValidationError if it has unusual characters."""
        typed = str(super().clean(value))
        if typed and not TRACKING.fullmatch(typed):
            raise forms.ValidationError(
                _("Enter the tracking number with letters, digits, spaces and dashes only")
            )
        return typed


class ShipForm(OrderForm):
    """The form that ships an order as one parcel, packed before or not, with its optional tracking number."""

    event = forms.CharField(widget=forms.HiddenInput)
    mail_kinds = {"shipped": ""}

    def __init__(self, order: Order, data: Mapping[str, Any] | None = None) -> None:
        self.packed = next((each for each in order.parcels() if each.state == parcels.PACKED), None)
        super().__init__(
            order,
            "shipped",
            data,
            event="shipped",
            carrier=(self.packed and self.packed.carrier) or order.method.carrier,
            tracking=self.packed.tracking if self.packed else "",
        )
        self.fields |= {"carrier": CarrierField(), "tracking": TrackingField()}

    @staticmethod
    def is_possible(order: Order) -> bool:
        """Return whether the order can be shipped, goes in one parcel, and is not picked up."""
        packed = sum(each.state == parcels.PACKED for each in order.parcels())
        is_one = (packed or len(order.units_to_pack)) == 1
        return (
            is_one and bool(order.method.carrier) and TRANSITION_RULES["shipped"].is_allowed(order)
        )


class ParcelForm(OrderForm):
    """The form for the next step of a parcel. The tracking number is optional.

    With `is_shipped_above`, the page's ShipForm ships the parcel, so this form is drawn without that step.
    """

    STEPS = {
        parcels.PACKED: (
            ("shipped", gettext_lazy("Mark as shipped")),
            ("unpacked", gettext_lazy("Unpack")),
        ),
        parcels.SHIPPED: (
            ("delivered", gettext_lazy("Mark as delivered")),
            ("lost", gettext_lazy("Mark as lost")),
        ),
    }
    event = forms.ChoiceField()

    def __init__(
        self,
        order: Order,
        parcel: Parcel,
        data: Mapping[str, Any] | None = None,
        *,
        is_shipped_above: bool = False,
    ) -> None:
        super().__init__(
            order,
            f"parcel-{parcel.parcel_id}",
            data,
            carrier=parcel.carrier or order.method.carrier,
            tracking=parcel.tracking,
        )
        self.parcel = parcel
        steps = self.STEPS.get(parcel.state, ())
        self.steps = [each for each in steps if not (is_shipped_above and each[0] == "shipped")]
        self.mail_kinds = dict(self.steps)
        self.fields["event"].choices = self.steps  # type: ignore[attr-defined]
        if parcel.state == parcels.PACKED and not is_shipped_above:
            self.fields |= {"carrier": CarrierField(), "tracking": TrackingField()}

    @property
    def text_fields(self) -> list[forms.BoundField]:
        """The fields for the carrier and the tracking number."""
        return [self[name] for name in ("tracking", "carrier") if name in self.fields]


class TrackingForm(OrderForm):
    """The form that corrects the carrier or the tracking number of a shipped parcel."""

    event = forms.CharField(widget=forms.HiddenInput)
    mail = forms.BooleanField(
        label=gettext_lazy("Email the number to the customer"), required=False
    )
    field_order = ("tracking", "carrier", "mail")

    def __init__(self, order: Order, parcel: Parcel, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(
            order,
            f"tracking-{parcel.parcel_id}",
            data,
            event=parcels.TRACKED,
            carrier=order.find_carrier(parcel.parcel_id),
            tracking=parcel.tracking,
        )
        self.parcel = parcel
        self.fields |= {"carrier": CarrierField(), "tracking": TrackingField()}
        self.order_fields(self.field_order)

    @staticmethod
    def is_possible(order: Order, parcel: Parcel) -> bool:
        """Return whether tracking can be corrected: the parcel was shipped, and the order's personal data are not erased."""
        rule = TRANSITION_RULES[parcels.TRACKED]
        return parcel.is_sent and rule.is_allowed(order) and not order.is_erased

    def clean(self) -> dict[str, Any]:
        """Require another carrier or number, unless a mail is to be sent, which needs a number."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return clean
        known = (self.order.find_carrier(self.parcel.parcel_id), self.parcel.tracking)
        typed = (clean["carrier"] or self.order.method.carrier, clean["tracking"])
        if clean["mail"] and not clean["tracking"]:
            self.add_error("tracking", _("Enter the tracking number to email"))
        elif typed == known and not clean["mail"]:
            self.add_error("tracking", _("Enter another tracking number or carrier"))
        return clean
