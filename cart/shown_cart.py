"""The view objects of a cart's page: a line, and the box with the sums. Each part is drawn once (web.templatetags.fragments)."""

from dataclasses import dataclass
from datetime import date
from uuid import UUID

from moneyed import Money

from cart.access import Access
from cart.forms import VoucherForm
from cart.priced_cart import PricedLine
from pricing.delivery import DeliveryMethod
from pricing.quotes import Quote


@dataclass(frozen=True)
class WrongQuantity:
    """A quantity that was refused, as it was typed."""

    key: str
    typed: str | None
    errors: tuple[str, ...]
    is_too_many: bool = False


@dataclass(frozen=True)
class ShownLine:
    """All that the page shows of a line. The old price and total are those at which the line was added."""

    cart_id: UUID
    key: str
    name: str
    label: str
    options_label: str
    slug: str
    sku: str
    picture: str
    quantity: int
    limit_message: str
    old_price: Money
    old_total: Money
    price: Money
    total: Money
    orderable_quantity: int
    available: int
    is_gone: bool
    is_sold_out: bool
    is_short: bool
    has_few_left: bool
    has_price_rise: bool
    has_price_fall: bool
    backorder_label: str
    price_consent: str
    can_edit: bool
    is_signed_in: bool
    wrong: WrongQuantity | None = None


def show_line(
    priced: PricedLine, access: Access, *, is_signed_in: bool, wrong: WrongQuantity | None
) -> ShownLine:
    """Return what the page shows of a line to a person with this access."""
    line = priced.line
    return ShownLine(
        cart_id=access.cart_id,
        key=line.key,
        name=line.name,
        label=line.label,
        options_label=line.options_label,
        slug=line.slug,
        sku=line.sku,
        picture=line.picture,
        quantity=line.quantity,
        limit_message=line.limit_message,
        old_price=line.price,
        old_total=line.total,
        price=priced.price,
        total=priced.total,
        orderable_quantity=priced.orderable_quantity,
        available=priced.available,
        is_gone=priced.is_gone,
        is_sold_out=priced.is_sold_out,
        is_short=priced.is_short,
        has_few_left=priced.has_few_left,
        has_price_rise=priced.has_price_rise,
        has_price_fall=priced.has_price_fall,
        backorder_label=priced.backorder.customer_label if priced.backorder else "",
        price_consent=str(priced.price_consent) if priced.has_price_rise else "",
        can_edit=access.can_edit,
        is_signed_in=is_signed_in,
        wrong=wrong if wrong and wrong.key == line.key else None,
    )


@dataclass(frozen=True)
class CartTools:
    """The menu of what can be done with a whole cart. `role` is '' for the owner."""

    cart_id: UUID
    name: str
    role: str
    item_count: int


@dataclass(frozen=True)
class CartSharing:
    """Who shares a cart. `role` says what the person may do, '' for the owner; `names` are the other people's."""

    cart_id: UUID
    role: str
    shared_by: str
    names: str
    has_people: bool
    is_live: bool  # whether the page asks for changes by itself


@dataclass(frozen=True)
class SumsBox:
    """The box with a cart's sums in a country. `ways` are its delivery methods, each with its price, first and last day."""

    cart_id: UUID
    here: str
    country: str
    countries: tuple[tuple[str, str], ...]
    sums: Quote | None
    ways: tuple[tuple[DeliveryMethod, Money, date, date], ...]
    delivery_note: str
    code: str
    refusal_reason: str  # why the code gives no discount
    dearer_count: int
    is_active: bool
    can_edit: bool
    can_order: bool
    shared_by: str

    def voucher_form(self) -> VoucherForm:
        """Return the form with the cart's code; if the code gives no discount, the form shows the reason as an error."""
        if not self.code:
            return VoucherForm()
        form = VoucherForm({"cart": str(self.cart_id), "code": self.code})
        if self.refusal_reason:
            form.add_error("code", self.refusal_reason)
        return form
