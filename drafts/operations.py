"""Saving, offering and ordering draft orders.

Each save is conditional on the version of the draft that the page showed. Accepting an offer is a conditional write, too; then
orders.operations.place_order places the order. Its id is derived from the draft, so ordering a draft twice places one order.
Before a save replaces an accepted draft, it abandons that draft's order. If the order exists already, the save is refused.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from django.utils.formats import date_format
from django.utils.translation import gettext as _

from accounts import queries as accounts
from accounts.models import User
from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    applied_if,
    conditional_write,
    truncate_to_milliseconds,
)
from catalogue.queries import get_sellable_variant
from drafts import queries
from drafts.entities import (
    ACCEPTED,
    OPEN,
    SENT,
    DraftOrder,
    Offer,
    derive_order_id,
    dump_discount,
    dump_lines,
    dump_offer,
)
from drafts.errors import AdditionRefused, DraftChanged, DraftOrdered, OfferOutdated
from drafts.links import offer_url
from inventory.products_with_stock import ProductWithStock
from inventory.queries import prefetch_stock_at_quorum, stock_from_rows
from jobs.months import list_recent_months
from jobs.rows import guard_row
from mail.addresses import email_key
from mail.operations import MailOptions, queue_mail
from orders import operations as orders
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import CustomerRefused
from orders.numbers import normalize_order_number
from orders.operations import OrderDraft
from orders.queries import get_order_by_number
from payments import gateways
from payments.methods import TRANSFER
from pricing.delivery import DeliveryMethod
from pricing.quotes import Quote, QuotedLine, compute_quote
from pricing.tax import TaxRates, get_tax_rates
from pricing.templatetags.money import format_money
from shop_settings.terms import get_terms
from web.days import end_after_days, last_day

# The number of days for which the prices of an offer hold.
OFFER_DAYS = 14
# The units of an accepted offer stay reserved at least this long without a payment.
PAY_WITHIN = timedelta(hours=24)

_SET = """version = :version, state = :state, email = :email, user_id = :user_id, address = :address,
          billing_address = :billing_address, lines = :lines, delivery_method = :delivery_method, discount = :discount,
          added_to = :added_to, offer = :offer, order_id = :order_id, mailed = :mailed, changed_by = :changed_by,
          changed_at = :changed_at"""
_KEY = "month = :month AND draft_id = :draft_id"
CREATE = conditional_write(
    "drafts",
    """INSERT INTO draft_orders (month, draft_id, version, state, email, user_id, address, billing_address, lines,
                                 delivery_method, discount, added_to, offer, order_id, mailed, changed_by, changed_at)
       VALUES (:month, :draft_id, :version, :state, :email, :user_id, :address, :billing_address, :lines,
               :delivery_method, :discount, :added_to, :offer, :order_id, :mailed, :changed_by, :changed_at) IF NOT EXISTS""",
)
SAVE = conditional_write(
    "drafts",
    f"UPDATE draft_orders SET {_SET} WHERE {_KEY} IF version = :seen AND state = :seen_state",  # noqa: S608
)
ACCEPT = conditional_write(
    "drafts",
    f"UPDATE draft_orders SET state = 'accepted' WHERE {_KEY} IF version = :version AND state = 'sent'",  # noqa: S608
)
MAILED = conditional_write(
    "drafts",
    f"UPDATE draft_orders SET mailed = :version WHERE {_KEY} IF version = :version AND state = 'sent'",  # noqa: S608
)
DELETE = conditional_write(
    "drafts",
    f"DELETE FROM draft_orders WHERE {_KEY} IF version = :version AND state = :state",  # noqa: S608
)


def price_lines(
    units: Mapping[tuple[UUID, UUID], int], products: Mapping[UUID, ProductWithStock]
) -> tuple[QuotedLine, ...]:
    """Return lines at today's prices for `units`, keyed by (product id, variant id), without variants that are no longer sold."""
    found = []
    for (product_id, variant_id), quantity in units.items():
        product = products[product_id].product
        variant = get_sellable_variant(product, variant_id)
        if product and variant and quantity:
            found.append(product.quote_line(variant, quantity))
    return tuple(found)


def compute_sums(draft: DraftOrder, method: DeliveryMethod, rates: TaxRates) -> Quote:
    """Return the sums of a draft. Raises ValueError if the draft has no lines."""
    return compute_quote(draft.lines, rates, method, draft.promotions)


def save_draft(draft: DraftOrder, seen: DraftOrder | None, actor: str, now: datetime) -> DraftOrder:
    """Save a draft over the version `seen` (None: a new draft), and withdraw its offer.

    Raises AdditionRefused, DraftChanged, DraftOrdered, CassandraUnavailable.
    """
    return _save(replace(draft, state=OPEN, offer=None, order_id=None), seen, actor, now)


def send_offer(
    draft: DraftOrder, seen: DraftOrder | None, method: DeliveryMethod, actor: str, now: datetime
) -> DraftOrder:
    """Save a draft, and mail its customer an offer with a link to pay. The offered prices hold for OFFER_DAYS.

    Raises CustomerRefused, AdditionRefused, DraftChanged, DraftOrdered, CassandraUnavailable.
    """
    _refuse_blocked(draft)
    offered = replace(
        draft, offer=_make_offer(draft, method, now), order_id=_next_order_id(draft, seen)
    )
    saved = _save(replace(offered, state=SENT), seen, actor, now)
    mail_offer(saved, now)
    return saved


def order_draft(
    draft: DraftOrder, seen: DraftOrder | None, method: DeliveryMethod, actor: str, now: datetime
) -> Order:
    """Save a draft and place it as an order that its customer pays by transfer.

    Raises CustomerRefused, AdditionRefused, DraftChanged, DraftOrdered, and the errors of orders.operations.place_order.
    """
    _refuse_blocked(draft)
    accepted = replace(
        draft,
        state=ACCEPTED,
        offer=_make_offer(draft, method, now),
        order_id=_next_order_id(draft, seen),
    )
    return _place(_save(accepted, seen, actor, now), TRANSFER, now, placed_by=actor)


def accept_offer(
    draft: DraftOrder,
    payment_method: str,
    now: datetime,
    networks: Sequence[tuple[str, int]],
    terms_version: int | None = None,
) -> Order:
    """Place an offer as an order, which keeps the version of the terms that the offer showed. A second call returns the same order.

    Raises CustomerRefused, OfferOutdated, DraftChanged, and the errors of orders.operations.place_order.
    """
    if draft.offer is None or draft.order_id is None or draft.state not in (SENT, ACCEPTED):
        raise DraftChanged(draft)
    if draft.state == SENT:
        if now >= draft.offer.until:
            raise OfferOutdated
        _refuse_blocked(draft)
        if compute_sums(draft, draft.offer.method, _tax_rates(draft)).total != draft.offer.total:
            raise OfferOutdated
        # If the database's answer was lost, the repeated write is refused, and the draft is found accepted.
        accepted = ACCEPT.apply(
            if_lost=applied_if(lambda row: (row.version, row.state) == (draft.version, ACCEPTED)),
            **draft.key,
            version=draft.version,
        )
        if not accepted:
            current = queries.get_draft(draft.draft_id)
            if not current or (current.version, current.state) != (draft.version, ACCEPTED):
                raise DraftChanged(current)
    return _place(draft, payment_method, now, networks=networks, terms_version=terms_version)


def delete_draft(seen: DraftOrder) -> None:
    """Delete a draft and its offer. Raises DraftChanged, DraftOrdered, CassandraUnavailable."""
    _take_back(seen)
    deleted = DELETE.apply(if_lost=SEND_AGAIN, **seen.key, version=seen.version, state=seen.state)
    if not deleted and (current := queries.get_draft(seen.draft_id)):
        raise DraftChanged(current)


def erase_draft(draft: DraftOrder) -> None:
    """Delete an erased person's draft, even if it has become an order, which is erased separately. Raises CassandraUnavailable."""
    current: DraftOrder | None = draft
    while current:
        if current.state == ACCEPTED and current.order_id:
            orders.abandon_checkout(current.order_id)
        if DELETE.apply(
            if_lost=SEND_AGAIN, **current.key, version=current.version, state=current.state
        ):
            return
        current = queries.get_draft(draft.draft_id)


def _save(draft: DraftOrder, seen: DraftOrder | None, actor: str, now: datetime) -> DraftOrder:
    member = accounts.find_user_by_email(draft.email) if draft.email else None
    _check_addition(draft, member)
    if seen:
        _take_back(seen)
    saved = replace(
        draft,
        user_id=member.pk if member else None,
        version=(seen.version if seen else 0) + 1,
        mailed=0,
        changed_by=actor,
        changed_at=truncate_to_milliseconds(now),
    )
    values = _stored_values(saved)

    # If the database's answer was lost, the repeated write is refused. The comparison below then finds our draft stored.
    if seen is None:
        outcome = CREATE.apply(if_lost=SEND_AGAIN, **saved.key, **values)
    else:
        outcome = SAVE.apply(
            if_lost=SEND_AGAIN, **saved.key, **values, seen=seen.version, seen_state=seen.state
        )
    if outcome:
        return saved
    current = queries.get_draft(draft.draft_id)
    if current and (current.version, current.changed_by, current.changed_at) == (
        saved.version,
        saved.changed_by,
        saved.changed_at,
    ):
        return saved
    raise DraftChanged(current)


def _check_addition(draft: DraftOrder, member: User | None) -> None:
    """Check that the order to which a draft adds has the draft's account or e-mail address. Raises AdditionRefused."""
    if not (draft.added_to and draft.email):
        return  # a draft without an e-mail address is neither mailed nor ordered
    first = get_order_by_number(normalize_order_number(draft.added_to))
    if first is None or first.is_erased:
        raise AdditionRefused(draft.added_to)
    is_same_account = member is not None and first.user_id == member.pk
    if not is_same_account and email_key(first.email) != email_key(draft.email):
        raise AdditionRefused(draft.added_to)


def _take_back(seen: DraftOrder) -> None:
    """Ensure that an accepted draft can no longer become an order. Raises DraftOrdered if its order exists or is being placed."""
    if seen.state == ACCEPTED and seen.order_id and not orders.abandon_checkout(seen.order_id):
        raise DraftOrdered


def _stored_values(draft: DraftOrder) -> dict[str, Any]:
    billing = draft.billing_address
    return {
        "version": draft.version,
        "state": draft.state,
        "email": draft.email,
        "user_id": draft.user_id,
        "address": draft.address.stored_fields(),
        "billing_address": billing.stored_fields() if billing else {},
        "lines": dump_lines(draft.lines),
        "delivery_method": draft.method_code,
        "discount": dump_discount(draft.discount),
        "added_to": draft.added_to,
        "offer": dump_offer(draft.offer),
        "order_id": draft.order_id,
        "mailed": draft.mailed,
        "changed_by": draft.changed_by,
        "changed_at": draft.changed_at,
    }


def mail_offer(draft: DraftOrder, now: datetime) -> None:
    """Queue the mail with the offer's link, once for each offered version. Raises CassandraUnavailable."""
    if draft.state != SENT or draft.offer is None:
        return
    context = {
        "name": draft.address.name,
        "lines": draft.lines,
        "details": _("As you asked, we’ve put together what is to be added to order %(number)s:")
        % {"number": draft.added_to}
        if draft.added_to
        else _("As you asked, we’ve put together an order for you:"),
        "promise": _("%(total)s in all, with delivery. The prices hold until %(day)s.")
        % {
            "total": format_money(draft.offer.total),
            "day": date_format(last_day(draft.offer.until), "j F Y"),
        },
        "url": offer_url(draft),
    }
    event = f"offered {draft.version}"
    options = MailOptions(about=draft.user_id)
    queue_mail(draft.draft_id, event, draft.email, "offer", context, now, options)
    # If the write is refused, the offer was withdrawn or accepted meanwhile.
    MAILED.apply(if_lost=REFUSED_MEANS_DONE, **draft.key, version=draft.version)


def mail_pending_offers(now: datetime) -> int:
    """Mail the offers that were not mailed because a process died. Return their number. Raises CassandraUnavailable."""
    count = 0
    for month in list_recent_months(now):
        for row in queries.UNMAILED.all(month=month):
            if row.state != SENT or row.mailed == row.version:
                continue
            with guard_row(f"offer {row.draft_id}"):
                if draft := queries.get_draft(row.draft_id):
                    mail_offer(draft, now)
                    count += 1
    return count


def _refuse_blocked(draft: DraftOrder) -> None:
    member = accounts.get_user(draft.user_id) if draft.user_id else None
    if draft.email and member is None:
        member = accounts.find_user_by_email(draft.email)
    if member and member.blocked_at:
        raise CustomerRefused(get_terms().email)


def _make_offer(draft: DraftOrder, method: DeliveryMethod, now: datetime) -> Offer:
    sums = compute_sums(draft, method, _tax_rates(draft))
    # The delivery price in this offer stays fixed, even if staff change the delivery method later.
    fixed = replace(method, price=sums.delivery, free_from=None, max_grams=None, bands=())
    return Offer(fixed, sums.total, end_after_days(now, OFFER_DAYS))


def _tax_rates(draft: DraftOrder) -> TaxRates:
    return get_tax_rates(draft.address.country)


def _next_order_id(draft: DraftOrder, seen: DraftOrder | None) -> UUID:
    return derive_order_id(draft.draft_id, (seen.version if seen else 0) + 1)


def _read_units(draft: DraftOrder) -> dict[UUID, dict[str, int]]:
    """Return the units in stock of a draft's variants, by variant and warehouse. Raises CassandraUnavailable."""
    products = {line.product_id for line in draft.lines}
    units: dict[UUID, dict[str, int]] = {line.variant_id: {} for line in draft.lines}
    for reading in [prefetch_stock_at_quorum(each) for each in products]:
        stock = stock_from_rows(reading.rows())
        units |= {variant_id: found.by_warehouse for variant_id, found in stock.items()}
    return units


def _place(
    draft: DraftOrder,
    payment_method: str,
    now: datetime,
    *,
    placed_by: str = "shopper",
    networks: Sequence[tuple[str, int]] = (),
    terms_version: int | None = None,
) -> Order:
    assert draft.offer
    assert draft.order_id
    values = _stored_values(draft)
    content = json.dumps([str(values[name]) for name in ("email", "address", "lines", "discount")])
    return orders.place_order(
        OrderDraft(
            order_id=draft.order_id,
            owner_id=draft.user_id or draft.draft_id,
            user_id=draft.user_id,
            email=draft.email,
            delivery_address=draft.address,
            billing_address=draft.billing_address or draft.address,
            method=draft.offer.method,
            tax_rates=_tax_rates(draft),
            lines=draft.lines,
            cart_id=None,
            # The fingerprint excludes the payment method: accepting with another method returns the existing order.
            fingerprint=sha256(content.encode()).hexdigest(),
            payment_method=payment_method,
            promotions=draft.promotions,
            # What is sold out is refused before it is planned. A plan would lead the sweeper to the order's id, which is used again.
            stock=_read_units(draft),
            networks=networks,
            placed_by=placed_by,
            offered_by=draft.changed_by,
            added_to=draft.added_to,
            terms_version=terms_version,
        ),
        now,
        max(gateways.METHODS[payment_method].pay_until(now), now + PAY_WITHIN),
    )
