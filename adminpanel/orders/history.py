"""Describes an order's history in words for staff."""

from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from django.utils.translation import gettext, gettext_lazy, ngettext
from django.utils.translation import gettext as _

from adminpanel.orders.labels import actor_label, event_label, name_actor
from inventory.warehouses import find_warehouse_name
from orders.lifecycle import returns
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event, parse_line_units
from orders.lifecycle.labels import ORDER_LABELS
from pricing.money import from_minor_units
from pricing.templatetags.money import format_money

NUMBERED = {
    "parcel": gettext_lazy("parcel %(parcel)s"),
    "return": gettext_lazy("return %(return)s"),
}
# Steps of the payment and of the jobs, which staff seldom need. The order's page folds them.
TECHNICAL = ("payment_started", "payment_closed", "authorized", "voided", "late")


@dataclass(frozen=True)
class StaffHistoryEntry:
    """An order's event in words for staff. `is_public` and `is_note_public`: shoppers see the event, or its note."""

    label: str
    actor: str
    at: datetime
    note: str
    is_public: bool
    is_note_public: bool
    details: str = ""
    is_technical: bool = False


def staff_history(order: Order) -> tuple[StaffHistoryEntry, ...]:
    """Return all entries of an order's history, the newest first. Private notes are included."""
    return tuple(_line(event, order) for event in order.events)


def group_history(order: Order) -> list[tuple[bool, list[StaffHistoryEntry]]]:
    """Return the entries of an order's history in runs: whether a run's entries are technical, and these."""
    runs = groupby(staff_history(order), lambda entry: entry.is_technical)
    return [(is_technical, list(run)) for is_technical, run in runs]


def _line(event: Event, order: Order) -> StaffHistoryEntry:
    return StaffHistoryEntry(
        event_label(order, event),
        actor_label(event),
        event.at,
        event.note,
        event.public,
        event.public and (event.actor == "system" or event.kind in returns.ANSWERS),
        _event_details(event, order),
        event.kind in TECHNICAL and not event.note,
    )


def describe_submitted_event(order: Order, event: Event) -> str:
    """Return a description of the user's latest act, for the end of a sentence."""
    details, currency = event.details, order.total.currency.code

    def amount(name: str) -> str:
        return format_money(from_minor_units(int(details[name]), currency))

    match event.kind:
        case "packed" if "parcel" in details:
            return _("parcel %(parcel)s packed") % details
        case "shipped" | "unpacked" | "delivered" | "lost" | "tracked" if "parcel" in details:
            return _("parcel %(number)s: %(what)s") % {
                "number": details["parcel"],
                "what": event_label(order, event).lower(),
            }
        case "refund_owed":
            return _("%(amount)s will be refunded") % {"amount": amount("amount")}
        case "changed" if "address" in details:
            return _("delivery address changed")
        case "changed":
            return _("the new total is %(total)s") % {"total": format_money(order.total)}
        case "captured" if int(details["came"]) > int(details["amount"]):
            extra = format_money(
                from_minor_units(int(details["came"]) - int(details["amount"]), currency)
            )
            return _("%(amount)s recorded; %(extra)s is too much: send it back") % {
                "amount": amount("amount"),
                "extra": extra,
            }
        case "captured":
            return _("%(amount)s recorded") % {"amount": amount("amount")}
        case "tagged":
            return ", ".join(_tag_changes(event))
        case "note" if details.get("added_order"):
            return _("order %(number)s adds to it") % {"number": details["added_order"]}
    done = ORDER_LABELS["event"][event.kind].done
    return gettext(done) % details if done else event_label(order, event).lower()


def _event_details(event: Event, order: Order) -> str:
    details, currency = event.details, order.total.currency.code
    parts = [words % details for name, words in NUMBERED.items() if details.get(name)]
    if event.kind == "packed":
        parts = [
            _("parcel %(parcel)s in %(warehouse)s")
            % {**each, "warehouse": find_warehouse_name(each["warehouse"])}
            for each in details.get("parcels") or [details]
            if each
        ]
    parts += [str(details[name]) for name in ("carrier", "tracking", "reason") if details.get(name)]
    is_money = event.kind in ("authorized", "captured", "refund_owed", "refunded")
    if is_money and details.get("amount"):
        parts.insert(0, format_money(from_minor_units(int(details["amount"]), currency)))
    if units := sum(parse_line_units(details.get("restock")).values()):
        text = ngettext("%(count)d unit back in stock", "%(count)d units back in stock", units)
        parts.append(text % {"count": units})
    if event.kind == "tagged":
        parts = _tag_changes(event)
    if details.get("added_order"):
        parts.append(_("order %(number)s adds to this one") % {"number": details["added_order"]})
    if details.get("offered_by"):
        parts.append(_("offered by %(name)s") % {"name": name_actor(details["offered_by"])})
    if event.kind == "changed":
        parts = [
            words % {"amount": format_money(from_minor_units(details["sums"][name], currency))}
            for name, words in (("was", _("%(amount)s before")), ("total", _("%(amount)s now")))
        ]
    return ", ".join(parts)


def _tag_changes(event: Event) -> list[str]:
    words = {"added": _("added: %(tags)s"), "removed": _("removed: %(tags)s")}
    return [
        text % {"tags": ", ".join(event.details[name])}
        for name, text in words.items()
        if event.details[name]
    ]
