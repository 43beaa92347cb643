"""I55: a payment that is listed as one without an order belongs to none."""

from collections.abc import Iterator

from consistency.findings import Check, Violation, call, table_subjects
from orders.queries import get_order_by_number
from payments.operations import unlist_payment
from payments.queries import list_unmatched_payments

RULE, TABLE = "I55", "unmatched_payments"


def _check_listed(_table: str) -> Iterator[Violation]:
    for payment in list_unmatched_payments():
        order = None if payment.is_manual else get_order_by_number(payment.number)
        attempts = order.payment_attempts if order else ()
        if payment.is_open and payment.payment_id in {each.payment_id for each in attempts}:
            subject = f"payment {payment.payment_id} of order {payment.number}"
            fix = call(unlist_payment, payment.payment_id)
            yield Violation(RULE, subject, "is listed as one without an order", fix=fix)


CHECKS = (Check("payments without an order", (RULE,), table_subjects((TABLE,)), _check_listed),)
