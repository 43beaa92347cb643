"""An order's returns, folded from its events: requested > approved | rejected; approved > received > refunded | closed.

Details of the events: return_requested {return, lines: {line: units}, reason}; return_received {return, restock: {line: units}};
return_approved, return_rejected, return_closed {return}, whose notes give the reason. A `refund_owed` may name a return, too;
once that refund was sent, the return is refunded. A refund without a return may put units back into stock: {restock}.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.utils.translation import gettext as _

from orders.lifecycle.events import Event, parse_line_units
from orders.lifecycle.parcels import DELIVERED, Parcel, delivered_units, units_by_line

REQUESTED, APPROVED, REJECTED = "requested", "approved", "rejected"
RECEIVED, REFUNDED, CLOSED = "received", "refunded", "closed"
# For each event: the state of a return before the event, and its state after.
STEPS = {
    "return_approved": (REQUESTED, APPROVED),
    "return_rejected": (REQUESTED, REJECTED),
    "return_received": (APPROVED, RECEIVED),
    "return_closed": (RECEIVED, CLOSED),
}
# The events whose notes the shopper reads.
ANSWERS = ("return_rejected", "return_closed")
KINDS = ("return_requested", *STEPS)


@dataclass(frozen=True)
class Return:
    """A return. `lines` and `restock` are units by line number; times are UTC."""

    return_id: str
    lines: dict[int, int]
    reason: str
    requested_at: datetime
    state: str = REQUESTED
    answer: str = ""  # tells the shopper why the return was rejected or not refunded
    restock: dict[int, int] | None = None  # the restocked units; None until it was received
    changed_at: datetime | None = None
    refund_id: str = ""  # the id of the refund that was decided for the return

    @property
    def is_awaiting_refund(self) -> bool:
        """Whether the return has arrived, and staff have not decided its refund yet."""
        return self.state == RECEIVED and not self.refund_id

    @property
    def is_open(self) -> bool:
        """Whether the return is not finished yet."""
        return self.state in (REQUESTED, APPROVED, RECEIVED)

    @property
    def count(self) -> int:
        return sum(self.lines.values())


def fold_returns(events: Sequence[Event]) -> tuple[Return, ...]:
    """Return the returns in these events (newest first), oldest first."""
    found: dict[str, Return] = {}
    refunds: dict[str, str] = {}
    for event in reversed(events):
        return_id = str(event.details.get("return", ""))
        if event.kind == "return_requested":
            found[return_id] = Return(
                return_id,
                parse_line_units(event.details["lines"]),
                event.details.get("reason") or "",
                event.at,
            )
        elif event.kind in STEPS and return_id in found:
            found[return_id] = _advanced_return(found[return_id], event)
        elif event.kind == "refund_owed" and return_id in found:
            refund_id = str(event.details["refund"])
            refunds[refund_id] = return_id
            found[return_id] = replace(found[return_id], refund_id=refund_id)
        elif event.kind == "refunded" and (
            paid_for := refunds.get(str(event.details.get("refund", "")))
        ):
            found[paid_for] = replace(found[paid_for], state=REFUNDED, changed_at=event.at)
    return tuple(found.values())


def _advanced_return(was: Return, event: Event) -> Return:
    return replace(
        was,
        state=STEPS[event.kind][1],
        changed_at=event.at,
        answer=event.note if event.kind in ANSWERS else was.answer,
        restock=parse_line_units(event.details.get("restock"))
        if event.kind == "return_received"
        else was.restock,
    )


def returnable_units(
    parcels: Iterable[Parcel],
    returns: Iterable[Return],
    events: Iterable[Event],
    arrived_since: datetime | None = None,
) -> dict[int, int]:
    """Return the units, by line, that were delivered since `arrived_since` (None: at any time) and have not come back.

    Units come back in a return, or with a refund in `events` that put them back into stock.
    """
    found = units_by_line(
        delivered_units(
            each
            for each in parcels
            if each.delivered_at and (arrived_since is None or each.delivered_at >= arrived_since)
        )
    )
    refunds = (event for event in events if event.kind == "refund_owed")
    restocks = [parse_line_units(event.details.get("restock")) for event in refunds]
    returned = [each.lines for each in returns if each.state != REJECTED]
    for lines in (*returned, *restocks):
        for line, count in lines.items():
            found[line] = found.get(line, 0) - count
    return {line: count for line, count in found.items() if count > 0}


def return_problem(event: Event, returnable: Mapping[int, int], returns: Sequence[Return]) -> str:
    """Return the reason why an order's returns, and its `returnable_units`, do not allow an event; '' if they allow it."""
    return_id = str(event.details.get("return", ""))
    found = next((each for each in returns if each.return_id == return_id), None)
    if event.kind == "return_requested":
        wanted = parse_line_units(event.details.get("lines"))
        if not wanted:
            return _("nothing was chosen to return")
        return (
            ""
            if not found and has_all_units(wanted, returnable)
            else _("that many can’t be returned")
        )
    if event.kind == "refund_owed":
        restock = parse_line_units(event.details.get("restock"))
        if restock and (found or not has_all_units(restock, returnable)):
            return _("not that many can go back into stock")
        return _("its return is closed") if found and found.state == CLOSED else ""
    if found is None:
        return _("it has no return %(number)s") % {"number": return_id}
    if found.state != STEPS[event.kind][0]:
        return _("return %(number)s is %(state)s") % {"number": return_id, "state": found.state}
    if event.kind == "return_closed" and found.refund_id:
        return _("its refund is already decided")
    if event.kind == "return_received" and not has_all_units(
        parse_line_units(event.details.get("restock")), found.lines
    ):
        return _("not that many were returned")
    return ""


def has_all_units(wanted: Mapping[int, int], available: Mapping[int, int]) -> bool:
    """Return whether all wanted units are available, line by line."""
    return all(0 <= count <= available.get(line, 0) for line, count in wanted.items())


def restocked_units(
    parcels: Iterable[Parcel], events: Sequence[Event]
) -> dict[str, dict[str, dict[int, int]]]:
    """Return the units that each return, or refund, puts back into stock, by warehouse and line.

    Each goes back to its parcel's warehouse, in the order of delivery. So later parcels and events do not change what earlier
    events put where.
    """
    arrived = [each for each in parcels if each.state == DELIVERED]
    arrived.sort(key=lambda each: each.delivered_at or each.packed_at)
    delivered = [(each.warehouse, dict(each.lines)) for each in arrived]
    found: dict[str, dict[str, dict[int, int]]] = {}
    for event in reversed(events):
        key = str(event.details.get("return") or f"refund {event.details.get('refund')}")
        for line, count in parse_line_units(event.details.get("restock")).items():
            for warehouse, lines in delivered:
                if part := min(count, lines.get(line, 0)):
                    lines[line] -= part
                    count -= part
                    units = found.setdefault(key, {}).setdefault(warehouse, {})
                    units[line] = units.get(line, 0) + part
    return found
