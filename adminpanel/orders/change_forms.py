"""The forms that change a placed order: one for its lines, one for its delivery address."""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _

from adminpanel.orders.forms import OrderForm, TypedForm
from inventory.entities import BACKORDER_WAREHOUSE
from orders.change_forms import DeliveryAddressForm
from orders.lifecycle import parcels
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits
from orders.lifecycle.states import CONFIRMED, ON_HOLD


class ChangeLinesForm(OrderForm):
    """The form that reduces an order's lines. Each field has the number of units that stay in the order."""

    mail_kinds = {"changed": ""}

    def __init__(
        self, order: Order, items: Iterable[Item], data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(order, "lines", data)
        self.packed = parcels.units_by_line(parcels.packed_units(order.parcels()))
        self.add_unit_fields(ItemUnits(item, item.quantity) for item in order.current_lines(items))

    def clean(self) -> dict[str, Any]:
        """Require that some units are removed, that some stay in the order, and that all packed units stay."""
        cleaned = super().clean() or self.cleaned_data
        if self.errors:
            return cleaned
        for item, field in self.lines:
            if self.units[item.line_number] < (packed := self.packed.get(item.line_number, 0)):
                self.add_error(
                    field.name,
                    _("Enter at least %(packed)s: that many are already packed")
                    % {"packed": packed},
                )
        if self.errors:
            return cleaned
        if not any(self.units.values()):
            raise forms.ValidationError(_("Keep at least one item, or cancel the order"))
        if all(self.units[item.line_number] == item.quantity for item, _ in self.lines):
            raise forms.ValidationError(_("Enter a smaller number for at least one item"))
        return cleaned


class StaffAddressForm(TypedForm, DeliveryAddressForm):
    """The form of another delivery address in the same country, typed by staff."""

    mail_kinds = {"changed": ""}

    def __init__(self, order: Order, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, current_address=order.delivery_address, auto_id="address-%s")
        self.fields["version"] = forms.IntegerField(
            min_value=0, widget=forms.HiddenInput, initial=order.version
        )
        self.order, self.key = order, "address"
        for field in self.fields.values():
            if not field.widget.is_hidden:
                field.widget.attrs["autocomplete"] = "off"  # a customer's address


def can_be_changed(order: Order) -> bool:
    """Return whether an order has units that are not packed and that staff can remove."""
    has_backorders = any(order.reserved_units.get(BACKORDER_WAREHOUSE, {}).values())
    has_units = order.has_units_to_pack or has_backorders
    return order.state in (CONFIRMED, ON_HOLD) and has_units and not order.is_erased
