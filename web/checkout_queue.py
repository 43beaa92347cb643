"""The checkout queue, or waiting room: a few requests at once, the others wait. So a crowd at the checkout leaves the rest of the shop its threads and processors.

A process works on `settings.CHECKOUTS_AT_ONCE` requests for such a view at a time; a few more wait for them in its threads.
Everybody else is answered at once, without the database, by a page that reloads itself at their turn, and every ten seconds until then. The turns
on their tickets are as far apart as requests lately took, and stand in a signed cookie, so that they count in every process and on every server.
Why: docs/decisions/017.
"""

import math
import threading
import time
from bisect import bisect_left, insort
from collections import deque
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from cassandra_db import current_time

# How long a ticket counts, from when it was given, in seconds: a long wait, and the visit after it.
TICKET_SECONDS = 30 * 60
# In seconds: how long a visitor waits in a thread, how far away a turn may be, and how late they may come.
_PATIENCE, _AT_MOST, _GRACE = 10.0, 60.0, 2.0
# In seconds: how long before a visitor asks again, at the latest when it is their turn. It may have come closer: once what all
# wanted is sold out, a queue moves ten times as fast. In a large crowd no more than so many a second ask a process.
_ASK_AGAIN_LEAST, _ASK_AGAIN_MOST, _MAX_ASKING = 2, 10, 100
# A visitor who is inside for longer than so many seconds gives the slot to another one; so many at most do.
_LONG, _MAX_STUCK = 1.0, 5


class QueueTicket(NamedTuple):
    """A place in the queue: the moment from which its owner goes before all who have no ticket, in seconds since 1970."""

    at: float


class QueueWait(NamedTuple):
    """A visitor's ticket whose turn is still to come, and in how many seconds the page asks again."""

    ticket: QueueTicket
    seconds: int


@dataclass(eq=False)
class QueueVisitor:
    """A visitor who is inside, since a moment, or waits in a thread until they are called."""

    since: float = 0.0
    called: threading.Event = field(default_factory=threading.Event)


class CheckoutQueue:
    """What one process knows of the queue: who is inside, who is next, and which tickets it has given. Moments are seconds since 1970."""

    def __init__(self, places: int, seats: int) -> None:
        self._slots, self._seats = max(1, places), seats
        self._lock = threading.Lock()
        self._inside: set[QueueVisitor] = set()
        self._next: deque[QueueVisitor] = deque()
        self._ticket_times: list[float] = []  # given and not over yet, the soonest first
        self._average_seconds = 0.1  # seconds that a request has lately been inside

    def enter(self, ticket: QueueTicket | None, now: float) -> QueueVisitor | QueueWait:
        """Go inside, perhaps after a while in a thread, and return the visitor; or return a wait with a ticket. A visitor who went inside has to `leave`."""
        mine = QueueVisitor()
        with self._lock:
            del self._ticket_times[: bisect_left(self._ticket_times, now - _GRACE)]
            is_due = ticket.at <= now if ticket else not self._ticket_times
            # The last seat is for those whose turn has come.
            seats = self._seats if is_due else self._seats - 1
            if self._free_slots(now) > len(self._next) or len(self._next) < seats:
                if ticket:
                    self._forget(ticket)
                self._next.append(mine)
                self._admit_next(now)
            else:
                return self._give_ticket(ticket, now)
        until = time.monotonic() + _PATIENCE
        while not mine.called.wait(_LONG):
            with self._lock:
                self._admit_next(current_time().timestamp())
                if not mine.called.is_set() and time.monotonic() > until:
                    self._next.remove(mine)
                    return self._give_ticket(ticket or QueueTicket(now), now)
        return mine

    def leave(self, visitor: QueueVisitor, now: float) -> None:
        """Let the next visitor in."""
        with self._lock:
            self._inside.remove(visitor)
            self._average_seconds += 0.1 * (min(now - visitor.since, _LONG) - self._average_seconds)
            self._admit_next(now)

    def _admit_next(self, now: float) -> None:
        while self._next and self._free_slots(now) > 0:
            visitor = self._next.popleft()
            visitor.since = now
            self._inside.add(visitor)
            visitor.called.set()

    def _free_slots(self, now: float) -> int:
        # A visitor who has been inside for long waits for the database, and not for the processor: others may go in beside them.
        # Below zero when a clock was set back, and they count as new.
        busy = sum(now - visitor.since < _LONG for visitor in self._inside)
        return min(self._slots - busy, self._slots + _MAX_STUCK - len(self._inside))

    def _give_ticket(self, ticket: QueueTicket | None, now: float) -> QueueWait:
        """Give a ticket behind all others; to those who have one, an earlier time if as many requests as are before them take less by now."""
        step = self._average_seconds / self._slots
        if ticket is None:
            last = self._ticket_times[-1] if self._ticket_times else now
            ticket = QueueTicket(min(max(last, now + 1) + step, now + _AT_MOST))
            is_ours = True
        else:
            is_ours = self._forget(ticket)
            before = bisect_left(self._ticket_times, ticket.at)
            ticket = QueueTicket(min(ticket.at, now + 1 + (before + 1) * step))
        if is_ours:
            insort(self._ticket_times, ticket.at)
        most = max(_ASK_AGAIN_MOST, len(self._ticket_times) // _MAX_ASKING)
        return QueueWait(ticket, min(max(_ASK_AGAIN_LEAST, math.ceil(ticket.at - now)), most))

    def _forget(self, ticket: QueueTicket) -> bool:
        """Forget a ticket, because its owner is here; return whether this process has given it."""
        position = bisect_left(self._ticket_times, ticket.at)
        is_ours = self._ticket_times[position : position + 1] == [ticket.at]
        if is_ours:
            del self._ticket_times[position]
        return is_ours


def get_queue_ticket(request: HttpRequest) -> QueueTicket | None:
    """Return the ticket that a visitor was given before, if there is one."""
    cookie = request.COOKIES.get(settings.QUEUE_COOKIE_NAME, "")
    try:
        return (
            QueueTicket(*signing.loads(cookie, salt="web.turn", max_age=TICKET_SECONDS))
            if cookie
            else None
        )
    except (signing.BadSignature, TypeError):
        return None


def _render_text(sent: list[tuple[str, str]], path: str, seconds: int) -> str:
    return render_to_string("checkout_queue.html", {"sent": sent, "path": path, "seconds": seconds})


@lru_cache(maxsize=64)
def _render_plain_text(path: str) -> str:
    return _render_text([], path, 0)


def render_queue_page(request: HttpRequest, wait: QueueWait) -> HttpResponse:
    """Return the queue's page: it reloads itself, with all that was sent. Needs no database.

    Its status is 200, as nothing has failed; Retry-After is for programs what Refresh is for browsers.
    """
    sent = [(name, value) for name, values in request.POST.lists() for value in values]
    # Without what was sent the page says how long in its headers alone, so it is drawn once.
    text = (
        _render_text(sent, request.get_full_path(), wait.seconds)
        if sent
        else _render_plain_text(request.get_full_path())
    )
    response = HttpResponse(text)
    response["Retry-After"] = str(wait.seconds)
    if request.method != "POST":  # a browser would ask for a page, and forget what was sent
        response["Refresh"] = str(wait.seconds)
    response["Content-Length"] = str(len(response.content))
    cookie = signing.dumps(wait.ticket, salt="web.turn")
    response.set_cookie(
        settings.QUEUE_COOKIE_NAME,
        cookie,
        max_age=TICKET_SECONDS,
        secure=settings.HTTPS,
        httponly=True,
        samesite="Lax",
    )
    return response
