"""Kinds of work that wait for staff. The board and Home show them, each with a link to the page that lists it."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.urls import reverse
from django.utils.translation import gettext as _

from cassandra_db import Row
from orders.board_queries import BoardCounts
from web.types import StrOrPromise


@dataclass(frozen=True)
class Wait:
    """A kind of work that waits for the staff: its name, its amount, and the address of the page that lists it."""

    label: StrOrPromise
    count: str
    url: str
    tone: str = "warn"


def list_order_waits(counts: BoardCounts) -> list[Wait]:
    """Return the columns of the board that need attention and have orders."""
    return [
        Wait(label, str(counts.numbers[column]), board_url(column), tone)
        for column, label, tone in (
            ("late", _("Late"), "bad"),
            ("payment_problem", _("Payment problems"), "bad"),
            ("returns_waiting", _("Returns to answer"), "warn"),
            ("on_hold", _("On hold"), "warn"),
        )
        if counts.numbers[column].number
    ]


def list_oldest_wait(row: Row | None, now: datetime) -> list[Wait]:
    """Return the order that waits longest to be packed, if it was placed over an hour ago."""
    if row is None or (waited := now - row.placed_at) <= timedelta(hours=1):
        return []
    url = reverse("adminpanel:order", args=(row.number,))
    return [Wait(_("Oldest to pack"), _age(waited), url, "calm")]


def board_url(column: str) -> str:
    """Return the address of a column of the board."""
    return f"{reverse('adminpanel:board')}?column={column}"


def _age(waited: timedelta) -> str:
    hours = waited // timedelta(hours=1)
    if hours < 48:
        return _("%(count)s h") % {"count": hours}
    return _("%(count)s days") % {"count": hours // 24}
