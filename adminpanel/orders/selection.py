"""A selection of orders: the orders ticked on the board, or all orders that the board's filter finds."""

from datetime import date
from typing import Any
from uuid import UUID

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.forms import day_input
from adminpanel.parameters import parse_id
from orders.board import OrderFilter, iterate_orders
from orders.lifecycle.labels import ORDER_LABELS
from orders.lifecycle.states import BOARD_COLUMNS
from payments.gateways import METHODS
from pricing.delivery import list_all_methods, list_delivery_countries
from pricing.delivery_settings import country_name
from web.days import validate_shop_day
from web.forms import FilterForm

DEFAULT_COLUMN = "to_pack"
# At most this many orders can be changed or printed together.
MAX_SELECTED_ORDERS = 10_000
# A form sends its selection as the ticked orders, or as `all` with the board's filter. The ids of ticked orders are
# joined in one field, because the audit log leaves out fields that are sent twice.
TICKED, JOINED, ALL = "order", "orders", "all"
MAX_TICKED = 100


class OrderFilterForm(FilterForm):
    """The form that filters the orders in a column of the board."""

    PLACES = frozenset({"column"})

    column = forms.ChoiceField(
        choices=list(BOARD_COLUMNS.items()), required=False, widget=forms.HiddenInput
    )
    country = forms.ChoiceField(label=gettext_lazy("Country"), required=False)
    delivery = forms.ChoiceField(label=gettext_lazy("Delivery"), required=False)
    payment = forms.ChoiceField(label=gettext_lazy("Payment"), required=False)
    method = forms.ChoiceField(label=gettext_lazy("Paid by"), required=False)
    first_day = forms.DateField(
        label=gettext_lazy("Placed from"),
        required=False,
        widget=day_input(),
        validators=[validate_shop_day],
    )
    last_day = forms.DateField(
        label=gettext_lazy("Placed until"),
        required=False,
        widget=day_input(),
        validators=[validate_shop_day],
    )
    sku = forms.CharField(label=gettext_lazy("SKU"), required=False, max_length=60)
    tag = forms.CharField(label=gettext_lazy("Tag"), required=False, max_length=40)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data, auto_id="filter-%s")
        anything = [("", _("All"))]
        choices: dict[str, list[tuple[str, Any]]] = {
            "country": [(code, country_name(code)) for code in list_delivery_countries()],
            "delivery": [(code, name) for code, name in list_all_methods().items()],
            "payment": [
                (status, _(label.staff)) for status, label in ORDER_LABELS["payment"].items()
            ],
            "method": [(code, each.name) for code, each in METHODS.items()],
        }
        for name, found in choices.items():
            self.fields[name].choices = [*anything, *found]  # type: ignore[attr-defined]

    def build_filter(self) -> OrderFilter:
        """Return the order filter. Do not call this if the form `is_refused`."""
        self.is_valid()
        clean = self.cleaned_data

        def text(name: str) -> str:
            return clean.get(name) or ""

        def day(name: str) -> date | None:
            return clean.get(name)

        return OrderFilter(
            text("column") or DEFAULT_COLUMN,
            country=text("country"),
            delivery_method=text("delivery"),
            payment=text("payment"),
            payment_method=text("method"),
            first_day=day("first_day"),
            last_day=day("last_day"),
            sku=text("sku"),
            tag=text("tag"),
        )


def list_filter_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the fields that are set in the filter, the column first."""
    return [(name, str(data[name])) for name in OrderFilterForm.base_fields if data.get(name)]


def list_selection_fields(data: QueryDict) -> list[tuple[str, str]]:
    """Return the submitted selection of orders as hidden fields."""
    if data.get(ALL):
        return [(ALL, "1"), *list_filter_fields(data)]
    return [(JOINED, ",".join(str(each) for each in list_ticked_ids(data)))]


def list_ticked_ids(data: QueryDict) -> list[UUID]:
    """Return the ids of the ticked orders, at most as many as a board's page lists. Texts that are no ids are left out."""
    sent = [*data.getlist(TICKED), *data.get(JOINED, "").split(",")]
    found = dict.fromkeys(parse_id(text) for text in sent[:MAX_TICKED])
    return [each for each in found if each]


def list_selected_orders(data: QueryDict) -> tuple[list[UUID], int]:
    """Return the ids of the selected orders, at most MAX_SELECTED_ORDERS, and their number. Raises CassandraUnavailable."""
    if not data.get(ALL):
        ticked = list_ticked_ids(data)
        return ticked, len(ticked)
    found: list[UUID] = []
    form = OrderFilterForm(data)
    # The board shows its first column instead of an unknown one. A selection must not do so.
    if form.errors:
        return [], 0
    for order in iterate_orders(form.build_filter()):
        if len(found) == MAX_SELECTED_ORDERS:
            return found, len(found) + 1
        found.append(order.order_id)
    return found, len(found)
