"""The checks of the payment settings for `manage.py check`."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from payments.gateways import METHODS, NONE, STRIPE, load_gateway
from payments.methods import TRANSFER

_METHODS_HINT = f"PAYMENT_METHODS: some of {', '.join(METHODS)}, comma separated."


def check_payment_settings(**_: Any) -> list[CheckMessage]:
    """Return the faults of the payment settings. A real shop must not accept the test bank's cards."""
    name, is_demo = settings.PAYMENT_GATEWAY, settings.DEBUG or settings.DEMO
    found = list(_methods())
    known = settings.PAYMENT_GATEWAYS
    hint = (
        f"PAYMENT_GATEWAY: one of {', '.join(known)}; `{NONE}` for a shop that takes no orders yet."
    )
    if not name:
        return [
            Warning(
                "No payment gateway is configured, so nothing can be ordered.",
                hint=hint,
                id="orders.W001",
            ),
            *found,
        ]
    if name not in (*known, NONE):
        return [
            Error(f"There is no payment gateway {name!r}.", hint=hint, id="orders.E001"),
            *found,
        ]
    if name != NONE and not is_demo and load_gateway(name).is_test:
        return [
            Error("The test bank's cards are for a demo shop only.", hint=hint, id="orders.E002"),
            *found,
        ]
    return [*(_stripe(is_demo) if name == STRIPE else ()), *found]


def _stripe(is_demo: bool) -> Iterator[CheckMessage]:
    if not settings.STRIPE_SECRET_KEY:
        yield Error(
            "Stripe cannot be used without a key.", hint="STRIPE_SECRET_KEY=sk_…", id="orders.E003"
        )
    elif not is_demo and settings.STRIPE_SECRET_KEY.startswith(("sk_test_", "rk_test_")):
        yield Warning(
            "Stripe's test key moves no money.",
            hint="STRIPE_SECRET_KEY=sk_live_…",
            id="orders.W002",
        )
    if not settings.STRIPE_WEBHOOK_SECRET:
        hint = "STRIPE_WEBHOOK_SECRET=whsec_…, of the endpoint /payments/stripe/notice/"
        yield Error(
            "Stripe's webhooks cannot be verified without a secret.", hint=hint, id="orders.E004"
        )


def _methods() -> Iterator[CheckMessage]:
    if unknown := [code for code in settings.PAYMENT_METHODS if code not in METHODS]:
        yield Error(
            f"There is no payment method {unknown[0]!r}.", hint=_METHODS_HINT, id="orders.E005"
        )
    if TRANSFER in settings.PAYMENT_METHODS and not settings.BANK_ACCOUNT:
        hint = "BANK_ACCOUNT=holder|IBAN …|BIC …"
        yield Error("No bank account is set for transfers.", hint=hint, id="orders.E006")
