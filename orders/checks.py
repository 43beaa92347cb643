"""What `manage.py check` says of the configuration."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from orders.gateways import NAMES, NONE, TEST_BANK

_HINT = f"PAYMENT_GATEWAY: one of {', '.join(NAMES)}; `{NONE}` for a shop that takes no orders yet."


def payments(**_: Any) -> list[CheckMessage]:
    """Return what is wrong with the gateway: outside a showroom nobody may pay by the test bank's cards."""
    name, trying_out = settings.PAYMENT_GATEWAY, settings.DEBUG or settings.SHOWROOM
    if not name:
        return [Warning("Nobody is named to take the money, so nothing can be ordered.", hint=_HINT, id="orders.W001")]
    if name not in (*NAMES, NONE):
        return [Error(f"There is no payment gateway {name!r}.", hint=_HINT, id="orders.E001")]
    if name == TEST_BANK and not trying_out:
        return [Error("The test bank's cards are for a showroom only.", hint=_HINT, id="orders.E002")]
    return []
