"""The mails about orders, with the shop's own texts. What happened is told by orders.operations.mail_texts as {details}."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.addresses import Address
from mail.kinds import NAME, SAMPLE, MailKind, MailPlaceholder
from orders import queries
from orders.lifecycle.entities import Order
from orders.operations.emails import mail_context
from orders.operations.mail_texts import MailContent, compose_mail
from web.types import StrOrPromise

_NUMBER = MailPlaceholder(gettext_lazy("The order’s number"), "order.number")
_PLACEHOLDERS = {
    "name": NAME,
    "order": _NUMBER,
    "total": MailPlaceholder(gettext_lazy("The order’s total"), "order.total|money"),
    "headline": MailPlaceholder(gettext_lazy("What happened, in a few words"), "letter.headline"),
    "details": MailPlaceholder(
        gettext_lazy("What happened, with days and amounts"), "details", is_typed=True
    ),
}
_SUBJECT = gettext_lazy("{headline}: {order}")
_PURPOSES = {
    "to_confirm": gettext_lazy("A guest has ordered: the link that confirms the order."),
    "to_pay": gettext_lazy("An order waits for a transfer: the amount, the account and the day."),
    "confirmed": gettext_lazy("An order is placed, and paid if it is paid beforehand."),
    "payment_failed": gettext_lazy("A payment didn’t go through."),
    "expired": gettext_lazy("An order wasn’t paid in time."),
    "paid_too_late": gettext_lazy("A payment came after the order had expired."),
    "capture_refused": gettext_lazy("A payment was approved, but not completed."),
    "shipped": gettext_lazy("A parcel is on its way, or ready to be picked up."),
    "tracked": gettext_lazy("A parcel has a tracking number now."),
    "delivered": gettext_lazy("A parcel has arrived, or was picked up."),
    "lost": gettext_lazy("A parcel was lost."),
    "changed": gettext_lazy("An order was changed."),
    "cancelled": gettext_lazy("An order was cancelled."),
    "withdrawn": gettext_lazy("A customer has withdrawn from an order: the acknowledgement."),
    "return_requested": gettext_lazy("A customer has requested a return."),
    "return_approved": gettext_lazy("A return is approved: where to send it."),
    "return_rejected": gettext_lazy("A return is rejected, with the reason."),
    "return_received": gettext_lazy("A return has arrived."),
    "return_closed": gettext_lazy("A return is complete, and nothing is refunded."),
    "refunded": gettext_lazy("Money was refunded."),
}
# In these the law, or a payment, needs what happened.
_DETAILED = frozenset(
    {
        *("to_confirm", "to_pay", "confirmed", "changed", "cancelled", "refunded"),
        *("withdrawn", "return_approved", "return_rejected"),
    }
)
_STATEMENT = {
    "order": MailPlaceholder(
        gettext_lazy("The order’s number, as it was typed"), "statement.number"
    ),
    "details": MailPlaceholder(gettext_lazy("The statement, and when it came"), "details"),
}
_SAMPLE_STATEMENT = {
    "statement": {"number": "7KQF-3M9X", "email": "ada@example.com", "name": "Ada Lovelace"},
    "details": gettext_lazy("We received this statement from you on 21 November 2026, 10:00:"),
}


# Stands in previews and test mails for the customer.
_SAMPLE_CUSTOMER = Address("Ada Lovelace", "1 Example Street", "D02 X285", "Dublin", "IE")


def _with_sample_customer(order: Order) -> Order:
    """Return an order with a sample name and address: erasing its customer can't reach a copy in a mailbox of the staff."""
    name = _SAMPLE_CUSTOMER.name
    events = (
        replace(event, details={**event.details, "name": name})
        if "name" in event.details
        else event
        for event in order.events
    )
    return replace(
        order,
        name=name,
        email=SAMPLE["email"],
        delivery_address=_SAMPLE_CUSTOMER,
        billing_address=_SAMPLE_CUSTOMER,
        events=tuple(events),
    )


def preview_order_mail(event: str, purpose: StrOrPromise, order: Order) -> Mapping[str, Any]:
    """Return the context of the mail about an order's last such event, with a sample customer.

    An order without such an event gets an example of the sentences.
    """
    order = _with_sample_customer(order)
    items, content = queries.list_items(order), None
    for each in order.events:
        found = compose_mail(order, each, items)
        if found and found.event == event:
            content = found
            break
    example = MailContent(str(purpose).rstrip("."), (_("Here is what happened to the order."),))
    is_summed = event in ("to_confirm", "to_pay", "confirmed", "changed", "cancelled")
    context = mail_context(order, items, content or replace(example, has_order_summary=is_summed))
    # Only the receiver of a mail may use its links.
    return context | {"url": f"{settings.PUBLIC_URL}/", "reject_url": ""}


def _order_mail(event: str, purpose: StrOrPromise) -> MailKind:
    is_confirmed = event == "confirmed"
    return MailKind(
        f"order_{event}",
        purpose,
        gettext_lazy("Your order {order} at {shop}") if is_confirmed else _SUBJECT,
        gettext_lazy("Hello {name},\n\nThank you for your order {order}.\n\n{details}")
        if is_confirmed
        else gettext_lazy("Hello {name},\n\n{details}"),
        button=gettext_lazy("Track my order"),
        placeholders=_PLACEHOLDERS,
        required=("details",) if event in _DETAILED else (),
        template="order",
        preview=partial(preview_order_mail, event, purpose),
    )


MAILS = [
    *(_order_mail(event, purpose) for event, purpose in _PURPOSES.items()),
    MailKind(
        "withdrawal_received",
        gettext_lazy("A withdrawal matches no order: the acknowledgement to the customer."),
        gettext_lazy("We’ve received your withdrawal: {order}"),
        gettext_lazy("Hello,\n\n{details}"),
        gettext_lazy(
            "If you didn’t send this, you can ignore this email: nothing happens to any order of yours that was not"
            " named with your email address."
        ),
        placeholders=_STATEMENT,
        required=("details",),
        sample=_SAMPLE_STATEMENT,
    ),
    MailKind(
        "withdrawal_unmatched",
        gettext_lazy("A withdrawal matches no order: the notice to the shop."),
        gettext_lazy("Withdrawal that matches no order: {order}"),
        gettext_lazy(
            "A customer has withdrawn from a contract, but no order has this number and this email address."
            " The withdrawal is valid if you can tell which order is meant: look for a letter that was mistyped, and"
            " cancel the order or open a return. The customer has an acknowledgement.\n\n"
            "Order number: {order}\nEmail address: {email}\nName: “{name}”\n\n{details}"
        ),
        placeholders=_STATEMENT
        | {
            "email": MailPlaceholder(
                gettext_lazy("The typed address"), "statement.email", is_typed=True
            ),
            "name": MailPlaceholder(
                gettext_lazy("The typed name"), "statement.name", is_typed=True
            ),
        },
        required=("order", "email", "name", "details"),
        sample=_SAMPLE_STATEMENT,
    ),
]
