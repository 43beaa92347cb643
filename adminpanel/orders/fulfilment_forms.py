"""What staff type on an order's page: parcels, returns, money, changes. Each form was drawn when the order had a version.

Several stand on one page, so each has a `key`, which begins the ids of its fields.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, cast
from uuid import uuid4

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from moneyed import Money

from catalogue.queries import MAX_SKU_LENGTH
from inventory.entities import BACKORDER_WAREHOUSE
from orders.change_forms import DeliveryAddressForm
from orders.lifecycle import balance, parcels, returns
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.parcels import ItemUnits, Parcel
from orders.lifecycle.returns import Return
from orders.lifecycle.states import CLOSED, CONFIRMED, ON_HOLD, TRANSITION_RULES
from payments.methods import MANUAL_METHODS, TRANSFER
from pricing.money import to_minor_units
from pricing.templatetags.money import format_money
from web.forms import Form

_WHOLE = re.compile(r"[0-9]{1,4}")
_AMOUNT = re.compile(r"€? ?([0-9]{1,7})(?:[.,]([0-9]{1,2}))? ?€?")
TRACKING = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ./-]*")
_SHORT = {"class": "input--short", "autocomplete": "off"}
MAX_WORDS = 1000


class UnitsField(forms.CharField):
    """A whole number of units, up to so many; left empty it is none."""

    def __init__(self, label: str, most: int) -> None:
        super().__init__(
            label=label,
            required=False,
            max_length=10,
            widget=forms.TextInput({**_SHORT, "inputmode": "numeric"}),
        )
        self.most = most

    def clean(self, value: Any) -> int:
        """Return the number. Raises ValidationError with what can be typed."""
        text = super().clean(value)
        if not text:
            return 0
        if not _WHOLE.fullmatch(text) or int(text) > self.most:
            raise forms.ValidationError(
                _("Enter a whole number from 0 to %(most)s") % {"most": self.most}
            )
        return int(text)


class AmountField(forms.CharField):
    """A sum of money with its cents, in an order's currency."""

    def __init__(
        self,
        label: str,
        most: Money,
        *,
        help_text: str = "",
        required: bool = True,
        takes_zero: bool = False,
    ) -> None:
        super().__init__(
            label=label,
            required=required,
            max_length=20,
            help_text=help_text,
            widget=forms.TextInput({**_SHORT, "inputmode": "decimal"}),
            error_messages={"required": gettext_lazy("Enter an amount like 12.50")},
        )
        self.most, self.takes_zero = most, takes_zero

    def clean(self, value: Any) -> Money | None:
        """Return the sum, None for an empty field. Raises ValidationError with what can be typed."""
        text = super().clean(value)
        if not text:
            return None
        found = _AMOUNT.fullmatch(text)
        if found is None:
            raise forms.ValidationError(_("Enter an amount like 12.50"))
        amount = Money(Decimal(f"{found[1]}.{found[2] or '0'}"), self.most.currency)
        if not amount.amount and not self.takes_zero:
            raise forms.ValidationError(_("Enter an amount above zero"))
        return amount


class OrderForm(Form):
    """A submit on an order's page that changes the order as it was drawn."""

    version = forms.IntegerField(min_value=0, widget=forms.HiddenInput)

    def __init__(
        self, order: Order, key: str, data: Mapping[str, Any] | None, **initial: Any
    ) -> None:
        super().__init__(data, auto_id=f"{key}-%s", initial={"version": order.version, **initial})
        self.order, self.key = order, key
        self.lines: list[tuple[Item, forms.BoundField]] = []

    def add_unit_fields(self, contents: Iterable[ItemUnits], *, prefill: bool = True) -> None:
        """Ask for a number of each of these lines, at most their units, and that by default with `prefill`."""
        for content in contents:
            name = f"line_{content.item.line_number}"
            self.fields[name] = UnitsField(content.item.label, content.units)
            self.initial[name] = content.units if prefill else ""
            self.lines.append((content.item, self[name]))

    @property
    def units(self) -> dict[int, int]:
        """The numbers by line."""
        return {item.line_number: self.cleaned_data[field.name] for item, field in self.lines}

    @property
    def typed_values(self) -> list[tuple[str, str]]:
        """What the user has typed, by label, to be shown where the form itself makes no sense any more."""
        said = [
            (str(field.label), str(field.value() or "").strip()) for field in self.visible_fields()
        ]
        return [(label, value) for label, value in said if value]

    def require_some_units(self) -> None:
        """Complain if no number was given."""
        if not self.errors and not any(self.units.values()):
            self.add_error(
                self.lines[0][1].name if self.lines else None,
                _("Enter a number for at least one item"),
            )


class PackForm(OrderForm):
    """What goes into a new parcel of one warehouse. A scanner types SKUs: the first one empties the lines, each counts one unit.

    `is_counted` after `count_scan`: then the field of the scanner is where one types.
    """

    scan = forms.CharField(
        label=gettext_lazy("Scan the items"),
        required=False,
        max_length=MAX_SKU_LENGTH,
        help_text=gettext_lazy("A barcode of a SKU, or its letters and Enter, counts one unit."),
        widget=forms.TextInput(
            {"autocomplete": "off", "autocapitalize": "characters", "spellcheck": "false"}
        ),
    )
    scanning = forms.CharField(widget=forms.HiddenInput, required=False, max_length=1)

    def __init__(
        self,
        order: Order,
        warehouse: str,
        items: Iterable[Item],
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(order, f"pack-{warehouse}", data)
        self.warehouse, self.is_counted = warehouse, False
        self.add_unit_fields(line_contents(items, order.units_to_pack.get(warehouse, {})))

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if the parcel would be empty."""
        cleaned = super().clean() or self.cleaned_data
        self.require_some_units()
        return cleaned

    @property
    def is_scanning(self) -> bool:
        """Whether the lines have what was scanned, and not all that is left."""
        return str(self["scanning"].value()) == "1"

    @property
    def full_names(self) -> set[str]:
        """The fields of the lines of which all units were scanned."""
        return {
            field.name
            for _item, field in self.lines
            if self.is_scanning and _count(field) == _most(field)
        }

    def count_scan(self) -> bool:
        """Count a unit of the SKU that was scanned, in the form itself; return whether it was. If not, the field has an error."""
        self.full_clean()
        self.is_counted = True
        sku = self.cleaned_data.get("scan", "").upper()
        found = [field for item, field in self.lines if item.sku == sku]
        counted = {
            field.name: _count(field) if self.is_scanning else 0 for _item, field in self.lines
        }
        wanting = next((each for each in found if counted[each.name] < _most(each)), None)
        if wanting is None:
            most = sum(map(_most, found))
            self.add_error(
                "scan",
                _("All %(units)d of %(sku)s are in the parcel") % {"units": most, "sku": sku}
                if found
                else _("“%(sku)s” is nothing that is to be packed here") % {"sku": sku},
            )
            return False
        counted[wanting.name] += 1
        texts = {name: str(units or "") for name, units in counted.items()}
        self.data = {**dict(self.data.items()), **texts, "scan": "", "scanning": "1"}
        self.full_clean()
        return True


def _count(field: forms.BoundField) -> int:
    """Return the units that stand in a line's field; 0 for what is no number of them."""
    text = str(field.value() or "")
    return int(text) if _WHOLE.fullmatch(text) else 0


def _most(field: forms.BoundField) -> int:
    return cast(UnitsField, field.field).most


class TrackingField(forms.CharField):
    """A carrier's number of a parcel."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            label=_("Tracking number"),
            max_length=60,
            widget=forms.TextInput({"autocomplete": "off"}),
            **kwargs,
        )

    def clean(self, value: Any) -> str:
        """Return the number without the spaces around it. Raises ValidationError with what it may consist of."""
        typed = str(super().clean(value))
        if typed and not TRACKING.fullmatch(typed):
            raise forms.ValidationError(
                _("Enter the tracking number with letters, digits, spaces and dashes only")
            )
        return typed


class ParcelForm(OrderForm):
    """What happens to a parcel next. The number of what is sent can be left out: not every carrier has one."""

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

    def __init__(self, order: Order, parcel: Parcel, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(order, f"parcel-{parcel.parcel_id}", data, carrier=order.method.carrier)
        self.parcel, self.steps = parcel, self.STEPS.get(parcel.state, ())
        self.fields["event"].choices = self.steps  # type: ignore[attr-defined]
        if parcel.state == parcels.PACKED:
            self.fields["carrier"] = forms.CharField(
                label=_("Carrier"), max_length=40, required=False
            )
            self.fields["tracking"] = TrackingField(required=False)

    @property
    def text_fields(self) -> list[forms.BoundField]:
        """What can be typed."""
        return [self[name] for name in ("carrier", "tracking") if name in self.fields]


class TrackingForm(OrderForm):
    """Another carrier or number of a parcel that was sent."""

    event = forms.CharField(widget=forms.HiddenInput)
    carrier = forms.CharField(label=gettext_lazy("Carrier"), max_length=40, required=False)
    mail = forms.BooleanField(
        label=gettext_lazy("Email the number to the customer"), required=False
    )
    field_order = ("carrier", "tracking", "mail")

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
        self.fields["tracking"] = TrackingField(required=False)
        self.order_fields(self.field_order)

    @staticmethod
    def is_possible(order: Order, parcel: Parcel) -> bool:
        """Return whether a parcel has been sent, of an order that still is its customer's."""
        rule = TRANSITION_RULES[parcels.TRACKED]
        return parcel.is_sent and rule.is_allowed(order) and not order.is_erased

    def clean(self) -> dict[str, Any]:
        """Ask for something else than there is, and for a number that is to be mailed."""
        clean: dict[str, Any] = super().clean() or self.cleaned_data
        if self.errors:
            return clean
        known = (self.order.find_carrier(self.parcel.parcel_id), self.parcel.tracking)
        if clean["mail"] and not clean["tracking"]:
            self.add_error("tracking", _("Enter the tracking number to email"))
        elif (
            clean["carrier"] or self.order.method.carrier,
            clean["tracking"],
        ) == known and not clean["mail"]:
            self.add_error("tracking", _("Enter another tracking number or carrier"))
        return clean


class ReturnDecisionForm(OrderForm):
    """Yes or no to a return."""

    event = forms.ChoiceField(
        choices=[
            ("return_approved", gettext_lazy("Approve")),
            ("return_rejected", gettext_lazy("Decline")),
        ]
    )
    note = forms.CharField(
        label=gettext_lazy("Reason for declining"),
        required=False,
        max_length=MAX_WORDS,
        widget=forms.Textarea({"rows": 3}),
        help_text=gettext_lazy("Only if you decline. The customer sees this."),
    )

    def __init__(
        self, order: Order, order_return: Return, data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(order, f"return-{order_return.return_id}", data)
        self.order_return = order_return

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError for a refusal without words."""
        cleaned = super().clean() or self.cleaned_data
        if (
            cleaned.get("event") == "return_rejected"
            and not cleaned.get("note")
            and "note" not in self.errors
        ):
            self.add_error("note", _("Tell the customer why you decline the return"))
        return cleaned


class ReturnReceiptForm(OrderForm):
    """What of a return that has arrived goes back into stock."""

    def __init__(
        self,
        order: Order,
        order_return: Return,
        items: Iterable[Item],
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(order, f"return-{order_return.return_id}", data)
        self.order_return = order_return
        self.add_unit_fields(line_contents(items, order_return.lines))


class RefundForm(OrderForm):
    """Money that goes back: for units of lines, for the delivery, or another sum; for a return, or just so.

    Only what the order still has was paid for, and each unit, and the delivery, goes back once. For a return it may be nothing: a free
    unit, or what was refunded before. Then 0 is filled in, and the return is closed.
    """

    def __init__(
        self,
        order: Order,
        items: Sequence[Item],
        order_return: Return | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        key = f"refund-{order_return.return_id}" if order_return else "refund"
        super().__init__(order, key, data)
        self.items, self.order_return, self.most = (
            order.current_lines(items),
            order_return,
            balance.refundable_amount(order),
        )
        self.refunded_units = balance.refunded_units_by_line(
            order, {item.line_number: item.quantity for item in items}
        )[0]
        refundable_units = {
            item.line_number: max(0, item.quantity - self.refunded_units.get(item.line_number, 0))
            for item in self.items
        }
        wanted = (
            {
                line: min(units, refundable_units.get(line, 0))
                for line, units in order_return.lines.items()
            }
            if order_return
            else refundable_units
        )
        self.add_unit_fields(line_contents(self.items, wanted), prefill=order_return is not None)
        if order.delivery.amount and not _delivery_refunded(order):
            self.fields["delivery"] = forms.BooleanField(
                label=_("Delivery, %(amount)s") % {"amount": format_money(order.delivery)},
                required=False,
            )
        paid_for_return = self._paid_for(wanted)
        self.owes_nothing = order_return is not None and not min(paid_for_return, self.most).amount
        help_text = _("Leave empty to refund what was paid for the items above.")
        if order_return:
            help_text += " " + _("Enter 0 to close the return without a refund.")
        self.fields["amount"] = AmountField(
            _("Other amount"),
            self.most,
            required=False,
            help_text=help_text,
            takes_zero=order_return is not None,
        )
        self.fields["reason"] = forms.CharField(
            label=_("Reason"),
            max_length=200,
            help_text=_("The customer sees this."),
            error_messages={"required": _("Enter a reason for the refund")},
        )
        if order_return:
            self.initial["reason"] = (
                _("Nothing was paid for it, or it is already refunded.")
                if self.owes_nothing
                else "What you sent back has arrived."
            )
        if self.owes_nothing:
            self.initial["amount"] = "0"

    def clean(self) -> dict[str, Any]:
        """Return the values, `amount` being what goes back. Raises ValidationError for nothing, or for too much."""
        cleaned = super().clean() or self.cleaned_data
        if "delivery" not in self.fields and self.data.get("delivery"):
            raise forms.ValidationError(_("Delivery is already refunded, or was free"))
        if self.errors:
            return cleaned
        cleaned.setdefault("delivery", False)
        typed, zero = cleaned["amount"], self.order.total * 0
        delivery = self.order.delivery if cleaned["delivery"] else zero
        amount = self._paid_for(self.units) + delivery if typed is None else typed
        is_closing = self.order_return is not None and (typed == zero or self.owes_nothing)
        if not to_minor_units(amount) and not is_closing:
            self.add_error("amount", _("Enter what to refund, or an amount"))
        elif amount > self.most:
            self.add_error(
                "amount",
                _("You can refund at most %(most)s; this is %(amount)s")
                % {"most": format_money(self.most), "amount": format_money(amount)},
            )
        cleaned["amount"] = amount
        return cleaned

    def _paid_for(self, units_by_line: Mapping[int, int]) -> Money:
        parts = [
            item.units_total(units, self.refunded_units.get(item.line_number, 0))
            for item in self.items
            if (units := units_by_line.get(item.line_number, 0))
        ]
        return sum(parts, self.order.total * 0)


def _delivery_refunded(order: Order) -> bool:
    return any(
        event.kind == "refund_owed" and event.details.get("delivery") for event in order.events
    )


class ChangeLinesForm(OrderForm):
    """How many of each line shall stay."""

    def __init__(
        self, order: Order, items: Iterable[Item], data: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(order, "lines", data)
        self.packed = parcels.units_by_line(parcels.packed_units(order.parcels()))
        self.add_unit_fields(ItemUnits(item, item.quantity) for item in order.current_lines(items))

    def clean(self) -> dict[str, Any]:
        """Return the values. Raises ValidationError if nothing would change, or stay, or if it is packed already."""
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


class ReceivedPaymentForm(OrderForm):
    """Money that came by transfer, or was paid on delivery."""

    press = forms.UUIDField(widget=forms.HiddenInput)

    def __init__(self, order: Order, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(order, "received", data, press=uuid4())
        left = balance.amount_to_capture(order)
        self.fields["amount"] = AmountField(
            _("Amount received"),
            left,
            help_text=_("%(amount)s is still to be paid.") % {"amount": format_money(left)},
        )
        self.initial["amount"] = str(left.amount)


class StaffAddressForm(DeliveryAddressForm):
    """Another delivery address in the same country, typed by staff."""

    def __init__(self, order: Order, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data, current_address=order.delivery_address, auto_id="address-%s")
        self.fields["version"] = forms.IntegerField(
            min_value=0, widget=forms.HiddenInput, initial=order.version
        )
        self.order, self.key = order, "address"
        for field in self.fields.values():
            if not field.widget.is_hidden:
                field.widget.attrs["autocomplete"] = "off"  # it is not theirs

    @property
    def typed_values(self) -> list[tuple[str, str]]:
        """What the user has typed, by label."""
        said = [
            (str(field.label), str(field.value() or "").strip()) for field in self.visible_fields()
        ]
        return [(label, value) for label, value in said if value]


def line_contents(items: Iterable[Item], lines: Mapping[int, int]) -> list[ItemUnits]:
    """Return units by line number as items with their units, without those of which there are none."""
    return [
        ItemUnits(item, units) for item in items if (units := lines.get(item.line_number, 0)) > 0
    ]


AnyForm = OrderForm | StaffAddressForm


def build_order_forms(order: Order, items: tuple[Item, ...], *, money: bool) -> dict[str, AnyForm]:
    """Return what can be done with an order as it is now: its forms by their keys, as they stand on the page.

    `money`: also what only some of the staff may, note money and give it back.
    """
    found: list[AnyForm] = []
    if order.state == CONFIRMED:
        found += [PackForm(order, warehouse, items) for warehouse in order.units_to_pack]
        found += [
            ParcelForm(order, each) for each in order.parcels() if each.state in ParcelForm.STEPS
        ]
    elif order.state == ON_HOLD:
        found += [
            ParcelForm(order, each) for each in order.parcels() if each.state in ParcelForm.STEPS
        ]
    found += [
        TrackingForm(order, each)
        for each in order.parcels()
        if TrackingForm.is_possible(order, each)
    ]
    if order.state in (CONFIRMED, CLOSED):
        found += [
            ReturnDecisionForm(order, each)
            for each in order.returns
            if each.state == returns.REQUESTED
        ]
        found += [
            ReturnReceiptForm(order, each, items)
            for each in order.returns
            if each.state == returns.APPROVED
        ]
    if money:
        found += [
            RefundForm(order, items, each) for each in order.returns if each.is_awaiting_refund
        ]
    if money and balance.refundable_amount(order).amount > 0:
        found.append(RefundForm(order, items))
    is_free_to_change = money or not balance.refundable_amount(order).amount
    if can_be_changed(order) and order.payment != "authorized" and is_free_to_change:
        found.append(ChangeLinesForm(order, items))
    if can_be_changed(order) and not order.has_packed_parcel and order.fulfilment == "unfulfilled":
        found.append(StaffAddressForm(order))
    if (
        money
        and order.payment_method in MANUAL_METHODS
        and balance.amount_to_capture(order).amount
        and (order.payment_method == TRANSFER or order.state in (CONFIRMED, ON_HOLD, CLOSED))
        and not order.is_erased
    ):
        found.append(ReceivedPaymentForm(order))
    return {each.key: each for each in found}


def can_be_changed(order: Order) -> bool:
    """Return whether there is something that is not packed yet, and so can be given back."""
    has_backorders = any(
        units
        for warehouse, lines in order.reserved_units.items()
        if warehouse == BACKORDER_WAREHOUSE
        for units in lines.values()
    )
    return (
        order.state in (CONFIRMED, ON_HOLD)
        and (order.has_units_to_pack or has_backorders)
        and not order.is_erased
    )
