"""Tells staff before an act that the customer gets an email about it."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _

from accounts.models import User
from orders.lifecycle.entities import Order
from orders.operations.emails import has_mail
from web.types import StrOrPromise


@dataclass(frozen=True)
class MailNotice:
    """The customer's name, and the buttons whose acts mail the customer; no buttons if all of them do."""

    name: str
    buttons: str = ""


def make_mail_notice(
    order: Order, member: User | None, kinds: Mapping[str, StrOrPromise]
) -> MailNotice | None:
    """Return the notice for acts, given as their buttons' labels by event kind; None if none mails the customer.

    `member` is the account of a member's order.
    """
    mailing = [label for kind, label in kinds.items() if has_mail(order, kind, member)]
    if not mailing:
        return None
    is_each = len(mailing) == len(kinds)
    return MailNotice(order.name, "" if is_each else ", ".join(_(str(label)) for label in mailing))
