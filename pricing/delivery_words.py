"""A sentence that explains the price of delivery."""

from decimal import Decimal

from django.utils.translation import gettext as _

from pricing.delivery import DeliveryMethod
from pricing.quotes import Quote
from pricing.templatetags.money import format_money


def describe_delivery_price(quote: Quote, method: DeliveryMethod, grams: int) -> str:
    """Return why delivery is not free for lines of this weight; '' if it is free, or if the method is never free (X125)."""
    if not quote.delivery.amount or method.free_from is None:
        return ""
    if quote.subtotal < method.free_from:
        words = (
            _("Free from %(free_from)s before discounts. Add %(missing)s more.")
            if quote.discount.amount
            else _("Free from %(free_from)s. Add %(missing)s more.")
        )
        missing = method.free_from - quote.subtotal
        return words % {
            "free_from": format_money(method.free_from),
            "missing": format_money(missing),
        }
    # Only the first parcel is free (DeliveryMethod.price_for); it is as heavy as a parcel may be.
    parcels = method.split_weight(grams)
    return _(
        "Your items weigh %(weight)s and go in %(count)s parcels, as one holds %(most)s. The first one is free."
    ) % {"weight": format_weight(grams), "count": len(parcels), "most": format_weight(parcels[0])}


def format_weight(grams: int) -> str:
    """Return a weight as text: "350 g" or "1.2 kg"."""
    if grams < 1000:
        return _("%(grams)s g") % {"grams": grams}
    return _("%(kilograms)s kg") % {"kilograms": f"{Decimal(grams) / 1000:.1f}".removesuffix(".0")}
