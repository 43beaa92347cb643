"""The payment methods that are offered for a country."""

from payments import gateways
from payments.methods import CASH_ON_DELIVERY

# The countries with cash on delivery. In other countries carriers do not offer it to a shop abroad, or not at all.
CASH_COUNTRIES = ("DE", "AT", "CZ", "ES", "IT", "PL", "PT")


def list_payment_methods(country: str) -> tuple[gateways.PaymentMethod, ...]:
    """Return the payment methods for an order to a country, the default first; none if the shop takes no payments."""
    return tuple(
        method
        for method in gateways.list_enabled_methods()
        if method.code != CASH_ON_DELIVERY or country in CASH_COUNTRIES
    )
