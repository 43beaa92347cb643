"""Books the form of a stock row: a receipt of units, or a count of them."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Any, cast
from uuid import UUID, uuid4, uuid5

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.access import current_member, note_changes
from accounts.models import User
from adminpanel.forms import short_input
from adminpanel.stock.forms import units_field
from cassandra_db import Row, current_time
from catalogue.entities import Product, Variant
from inventory import operations
from inventory.entities import DEFAULT_THRESHOLD, StockNumbers
from inventory.errors import NotEnoughAvailable, StockChanged
from inventory.queries import (
    get_stock_numbers,
    list_waiting_orders,
    prefetch_stock_numbers,
    stock_numbers_from_row,
)
from inventory.warehouses import find_warehouse_name, list_open_warehouses, list_warehouses
from web.forms import Form


class StockForm(Form):
    """The form of a stock row: the units that arrived in a warehouse, or were counted there.

    `key` is unique to the page, so a submit is booked once. `seen` is the number of units that the page showed.
    """

    key = forms.UUIDField(widget=forms.HiddenInput)
    seen = forms.IntegerField(widget=forms.HiddenInput, required=False)
    units = units_field(gettext_lazy("Units"))
    reason = forms.CharField(
        label=gettext_lazy("Reason"), required=False, max_length=200, widget=short_input()
    )

    def __init__(
        self,
        variant_id: UUID,
        warehouse_id: str,
        numbers: StockNumbers,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.is_open = any(each.key == warehouse_id for each in list_open_warehouses())
        initial = {"key": uuid4(), "seen": numbers.on_hand}
        super().__init__(data, initial=initial, auto_id=f"{variant_id}-{warehouse_id}-%s")
        # Whether the number of units has changed since the page was shown.
        self.is_stale = False

    def clean(self) -> dict[str, Any]:
        """Require the number of units for a receipt, and a reason for a count."""
        clean = cast(dict[str, Any], super().clean())
        if self.is_count and not clean.get("reason"):
            self.add_error("reason", _("Enter a reason, such as “broken” or “stocktaking”"))
        if not self.is_count and not self.is_open:
            self.add_error("units", _("This warehouse is closed. Receive them in another one."))
        if not self.is_count and clean.get("units") == 0:
            self.add_error("units", _("Enter how many have arrived"))
        return clean

    @property
    def is_count(self) -> bool:
        """Whether the number of units is a count. Otherwise it is a receipt."""
        return "count" in self.data

    def is_booking(self, row: Row) -> bool:
        """Return whether the stock ledger's entry `row` is the booking of this valid form."""
        state, units = "received", self.cleaned_data["units"]
        if self.is_count:
            state, units = "adjusted", units - (self.cleaned_data["seen"] or 0)
        return bool(row.state == state and row.quantity == units)


def get_warehouse_or_404(request: HttpRequest) -> str:
    """Return the key of the warehouse that the form names. Raises Http404."""
    warehouse = request.POST.get("warehouse", "")
    if warehouse not in list_warehouses():
        raise Http404("no such warehouse")
    return warehouse


def book_submitted(
    request: HttpRequest, product: Product, variant: Variant
) -> tuple[str, StockForm, int]:
    """Book the form of a stock row once, and note the booking for the audit log.

    Return the warehouse, the form and the answer's status: 303 if booked, 409 if the stock has changed since the page
    was shown, else 422. A form with errors can be sent once more. Raises Http404, CassandraUnavailable.
    """
    warehouse = get_warehouse_or_404(request)
    before = get_stock_numbers(variant.variant_id, warehouse)
    form = StockForm(variant.variant_id, warehouse, before, request.POST)
    said = ""
    if is_valid := form.is_valid():
        member, now = current_member(request), current_time()
        said = _book_stock(product, variant.variant_id, warehouse, form, member, now)
    after = get_stock_numbers(variant.variant_id, warehouse)
    if not said:
        # An invalid form keeps its `seen`, because that value was not compared yet.
        if is_valid or form.cleaned_data.get("seen") is None:
            form.keep_typed(seen=after.on_hand)
        status = HTTPStatus.CONFLICT if form.is_stale else HTTPStatus.UNPROCESSABLE_ENTITY
        return warehouse, form, status
    note_changes(request, {"units": before.on_hand}, {"units": after.on_hand, "sku": variant.sku})
    messages.success(
        request,
        _("%(sku)s, %(warehouse)s: %(said)s")
        % {"sku": variant.sku, "warehouse": find_warehouse_name(warehouse), "said": said},
    )
    return warehouse, form, HTTPStatus.SEE_OTHER


def _book_stock(
    product: Product, variant_id: UUID, warehouse_id: str, form: StockForm, by: User, now: datetime
) -> str:
    """Book a valid form once. Return what was booked, in words, or "" if the form has errors. Raises CassandraUnavailable."""
    units = form.cleaned_data["units"]
    # The id is derived from the key. If it were the key itself, a forged key could be the id of a reservation.
    booking_id = uuid5(variant_id, f"{warehouse_id} {form.cleaned_data['key']}")
    rows = prefetch_stock_numbers(variant_id, warehouse_id, booking_id).rows()
    booked = _find_booking(rows, booking_id)
    is_new = True
    if not form.is_count and (booked is None or form.is_booking(booked)):
        # A receipt that was booked before is booked once more: after a crash its ledger entry may be missing.
        threshold = rows[0].threshold if rows and rows[0].threshold is not None else None
        is_new = operations.receive_stock(
            *(product.product_id, variant_id, warehouse_id, units),
            DEFAULT_THRESHOLD if threshold is None else threshold,
            booking_id,
            now,
            str(by.pk),
        )
    elif booked is None:
        is_item = bool(rows) and rows[0].received is not None
        numbers = stock_numbers_from_row(rows[0]) if is_item else None
        is_new = _book_count(variant_id, warehouse_id, form, by, numbers, booking_id, now)
        if form.errors:
            return ""
    if booked is None and not is_new:
        # Another request has just booked the same form.
        rows = prefetch_stock_numbers(variant_id, warehouse_id, booking_id).rows()
        booked = _find_booking(rows, booking_id)
    if booked is not None and not form.is_booking(booked):
        form.add_error("units", _booked_text(booked))
        form.keep_typed(key=uuid4())
        return ""
    said = (_("Adjusted to %(units)d.") if form.is_count else _("%(units)d received.")) % {
        "units": units
    }
    if waiting := list_waiting_orders(variant_id):
        # Orders that wait get units first. The pages get only the rest, so new buyers do not overtake these orders.
        return _("%(said)s Waiting orders: %(count)d. They are filled first.") % {
            "said": said,
            "count": len(waiting),
        }
    operations.copy_stock(product.product_id)
    return said


def _find_booking(rows: Sequence[Row], booking_id: UUID) -> Row | None:
    return next((row for row in rows if row.reservation_id == booking_id), None)


def _book_count(
    variant_id: UUID,
    warehouse_id: str,
    form: StockForm,
    by: User,
    numbers: StockNumbers | None,
    booking_id: UUID,
    now: datetime,
) -> bool:
    """Book a count of units. Return whether this call booked it. If it cannot be booked, the form has an error."""
    clean = form.cleaned_data
    if numbers is None:
        form.add_error("units", _("No stock here yet. Receive the first units instead."))
        return False
    more = clean["units"] - numbers.on_hand
    if clean["seen"] != numbers.on_hand:
        form.is_stale = True
        form.add_error("units", _changed_text(numbers.on_hand))
        return False
    if not more:
        return True
    try:
        return operations.adjust_stock(
            *(variant_id, warehouse_id, more),
            adjustment_id=booking_id,
            actor=str(by.pk),
            reason=clean["reason"],
            now=now,
            counted=operations.Counted(numbers.received, numbers.shipped),
        )
    except StockChanged:
        form.is_stale = True
        on_hand = get_stock_numbers(variant_id, warehouse_id).on_hand
        form.add_error("units", _changed_text(on_hand))
    except NotEnoughAvailable as refused:
        form.add_error(
            "units",
            _("Orders hold %(units)d of these. Cancel or change those orders first.")
            % {"units": numbers.on_hand - refused.available},
        )
    return False


def _booked_text(row: Row) -> str:
    if row.state == "received":
        return _("This form was already saved: %(units)d received.") % {"units": row.quantity}
    return _("This form was already saved: adjusted by %(units)s.") % {
        "units": f"{row.quantity:+d}"
    }


def _changed_text(on_hand: int) -> str:
    return _("It’s %(units)d now. Save again to replace it.") % {"units": on_hand}
