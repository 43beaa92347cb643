"""The panels of parcels and returns on an order's page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from adminpanel.orders.available_forms import AnyForm
from adminpanel.orders.forms import line_contents
from orders.carriers import tracking_url
from orders.lifecycle import returns
from orders.lifecycle.entities import Order
from orders.lifecycle.items import Item
from orders.lifecycle.labels import ORDER_LABELS, staff_label
from orders.lifecycle.parcels import ItemUnits, Parcel
from orders.lifecycle.returns import Return


@dataclass(frozen=True)
class ParcelPanel:
    """A parcel on an order's page. `form` records the parcel's next step. `tracking_form` corrects its tracking number."""

    parcel: Parcel
    state_label: str
    tone: str
    tracking_url: str
    form: AnyForm | None
    tracking_form: AnyForm | None


@dataclass(frozen=True)
class ReturnPanel:
    """A return on an order's page, with the forms that staff can use for it."""

    order_return: Return
    contents: Sequence[ItemUnits]
    state_label: str
    tone: str
    form: AnyForm | None
    refund: AnyForm | None

    @property
    def is_awaiting_answer(self) -> bool:
        return self.order_return.state == returns.REQUESTED


def parcel_panels(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ParcelPanel]:
    """Return panels for an order's parcels, the oldest parcel first. `forms` are the forms of the page, keyed by name."""
    return [
        ParcelPanel(
            each,
            staff_label("parcel", each.state, is_pickup=not order.find_carrier(each.parcel_id)),
            ORDER_LABELS["parcel"][each.state].tone,
            tracking_url(each.carrier, each.tracking),
            forms.get(f"parcel-{each.parcel_id}"),
            forms.get(f"tracking-{each.parcel_id}"),
        )
        for each in order.parcels(items)
    ]


def return_panels(
    order: Order, items: Sequence[Item], forms: Mapping[str, AnyForm]
) -> list[ReturnPanel]:
    """Return panels for an order's returns, the newest return first. `forms` are the forms of the page, keyed by name."""
    return [
        ReturnPanel(
            each,
            line_contents(items, each.lines),
            staff_label("return", each.state),
            ORDER_LABELS["return"][each.state].tone,
            forms.get(f"return-{each.return_id}"),
            forms.get(f"refund-{each.return_id}"),
        )
        for each in reversed(order.returns)
    ]
