"""The checkout queue, or waiting room: a crowd at the checkout leaves threads and processors to the rest of the shop.

A process works on `settings.CHECKOUTS_AT_ONCE` requests for queued views at a time. A few more wait in its threads. All other
visitors get the queue's page, which needs no database. The page reloads itself every ten seconds, and at the visitor's turn. A
signed cookie holds the moment at which a visitor came. So visitors are served in that order, by all processes and servers.
Why: docs/decisions/017.
"""

import threading
import time
from bisect import bisect_left, insort
from dataclasses import dataclass, field
from functools import lru_cache
from secrets import randbits
from typing import NamedTuple

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from cassandra_db import current_time
from cassandra_db.clock import CLOCKS_APART
from web.cookies import set_cookie

# How long a ticket is valid, in seconds since its owner came: for a long wait and the visit after it.
TICKET_SECONDS = 30 * 60
# How often a ticket is let in: once for each page and submit of a visit, and once more for each. After that its owner is a
# newcomer, or a few visitors who always return at once would keep all others out.
MAX_VISITS = 12
# For how many seconds a visitor waits in a thread, and how many seconds late they may come without losing their turn.
_PATIENCE, _GRACE = 10.0, 1.0
# The seconds after which a visitor's page asks again: at least, at most, and at most in a large crowd. Visitors ask early because
# the queue may move ten times as fast after a product is sold out. The last number limits the requests per second of a process.
_ASK_AGAIN_LEAST, _ASK_AGAIN_MOST, _ASK_AGAIN_CROWD, _MAX_ASKING = 3, 10, 60, 100
# A slot that was free for this share of a request's usual time goes to the next visitor who asks, even out of turn.
_IDLE = 0.25
# A visitor who is inside for more seconds than this gives the slot to another visitor. At most _MAX_STUCK visitors do so.
_LONG, _MAX_STUCK = 1.0, 5


class QueueTicket(NamedTuple):
    """A place in the queue: the moment at which its owner came, in seconds since 1970. `number` decides between equal moments."""

    came_at: float
    number: int = 0


class QueueWait(NamedTuple):
    """The ticket of a waiting visitor, and in how many seconds their page asks again."""

    ticket: QueueTicket
    seconds: int


@dataclass(eq=False)
class QueueVisitor:
    """A visitor who is inside, or waits in a thread. `called` is set when they may go in, or have to wait outside the thread."""

    ticket: QueueTicket
    since: float = 0.0
    wait: QueueWait | None = None
    called: threading.Event = field(default_factory=threading.Event)


class CheckoutQueue:
    """One process's queue: who is inside, who is next, and who will ask again. Moments are seconds since 1970."""

    def __init__(self, places: int, seats: int) -> None:
        self._slots, self._seats = max(1, places), seats
        self._lock = threading.Lock()
        self._inside: set[QueueVisitor] = set()
        self._next: list[QueueVisitor] = []  # the first to come first
        # The tickets of visitors who will ask again, in order, and the time until which they may.
        self._waiting: list[QueueTicket] = []
        self._ask_until: dict[QueueTicket, float] = {}
        self._visits: dict[QueueTicket, int] = {}  # how often each ticket has gone in
        self._cleared_at = 0.0
        self._moved_at = 0.0  # when somebody last went in or left
        self._average_seconds = 0.1  # seconds that a request has lately been inside

    def enter(self, ticket: QueueTicket | None, now: float) -> QueueVisitor | QueueWait:
        """Let a visitor in, maybe after a wait in a thread, and return them for `leave`. Or return a QueueWait with a ticket."""
        mine = self.take_seat(ticket, now)
        until = time.monotonic() + _PATIENCE
        while not mine.called.wait(_LONG):
            with self._lock:
                now = current_time().timestamp()
                self._admit_next(now)
                if not mine.called.is_set() and time.monotonic() > until:
                    self._next.remove(mine)
                    self._send_away(mine, now)
        return mine.wait or mine

    def take_seat(self, ticket: QueueTicket | None, now: float) -> QueueVisitor:
        """Return a visitor with this ticket or a new one. The visitor has either been called in already, or is next."""
        with self._lock:
            self._forget_missing(now)
            if ticket is None or self._visits.setdefault(ticket, 0) >= MAX_VISITS:
                ticket = QueueTicket(now, randbits(32))
            mine = QueueVisitor(ticket)
            if self._may_come_in(mine.ticket, now):
                self._forget(mine.ticket)
                insort(self._next, mine, key=lambda each: each.ticket)
                self._admit_next(now)
                if len(self._next) > self._seats:
                    self._send_away(self._next.pop(), now)
            else:
                self._send_away(mine, now)
        return mine

    def leave(self, visitor: QueueVisitor, now: float) -> None:
        """Let the next visitor in."""
        with self._lock:
            self._inside.remove(visitor)
            self._moved_at = now
            took = min(max(now - visitor.since, 0.0), _LONG)
            self._average_seconds += 0.1 * (took - self._average_seconds)
            self._admit_next(now)

    def _may_come_in(self, ticket: QueueTicket, now: float) -> bool:
        """Return whether a visitor's turn is near, or whether the earlier visitors leave a slot free.

        A ticket lets in one request at a time, so that nobody fills the checkout with one ticket.
        """
        if any(each.ticket == ticket for each in (*self._inside, *self._next)):
            return False
        if self._seconds_to_turn(ticket) < 2 * _ASK_AGAIN_LEAST:
            return True
        is_idle = now - self._moved_at > _IDLE * self._average_seconds
        return is_idle and not self._next and self._free_slots(now) > 0

    def _seconds_to_turn(self, ticket: QueueTicket) -> float:
        """Return how many seconds the requests of all earlier visitors who will ask again are going to take."""
        return bisect_left(self._waiting, ticket) * self._average_seconds / self._slots

    def _admit_next(self, now: float) -> None:
        while self._next and self._free_slots(now) > 0:
            visitor = self._next.pop(0)
            visitor.since = self._moved_at = now
            self._inside.add(visitor)
            if visitor.ticket in self._visits:  # a newcomer's ticket is not known yet
                self._visits[visitor.ticket] += 1
            visitor.called.set()

    def _free_slots(self, now: float) -> int:
        # A visitor who has been inside for long waits for the database, not the processor: another visitor may go in meanwhile.
        # After the clock was set back, the time inside is negative, and the visitor counts as new.
        busy = sum(now - visitor.since < _LONG for visitor in self._inside)
        return min(self._slots - busy, self._slots + _MAX_STUCK - len(self._inside))

    def _send_away(self, visitor: QueueVisitor, now: float) -> None:
        """Have a visitor wait outside the thread, until their turn or until it may have come closer. They keep their ticket."""
        most = min(max(_ASK_AGAIN_MOST, len(self._waiting) // _MAX_ASKING), _ASK_AGAIN_CROWD)
        soon = int(self._seconds_to_turn(visitor.ticket)) - _ASK_AGAIN_LEAST
        seconds = min(max(soon, _ASK_AGAIN_LEAST), most)
        if visitor.ticket not in self._ask_until:
            insort(self._waiting, visitor.ticket)
        self._ask_until[visitor.ticket] = now + seconds + _GRACE
        visitor.wait = QueueWait(visitor.ticket, seconds)
        visitor.called.set()

    def _forget(self, ticket: QueueTicket) -> None:
        """Forget that a ticket's owner will ask again."""
        if self._ask_until.pop(ticket, None):
            del self._waiting[bisect_left(self._waiting, ticket)]

    def _forget_missing(self, now: float) -> None:
        """Forget visitors who have not asked again in time, and expired tickets; at most once a second."""
        if abs(now - self._cleared_at) > 1:
            self._cleared_at = now
            self._ask_until = {
                ticket: until for ticket, until in self._ask_until.items() if until > now
            }
            self._waiting = sorted(self._ask_until)
            self._visits = {
                ticket: count for ticket, count in self._visits.items() if _counts(ticket, now)
            }


def _counts(ticket: QueueTicket, now: float) -> bool:
    """Return whether a ticket is valid: not expired, and not from the future beyond the difference of clocks."""
    return -CLOCKS_APART.total_seconds() <= now - ticket.came_at <= TICKET_SECONDS


def get_queue_ticket(request: HttpRequest, now: float) -> QueueTicket | None:
    """Return the valid ticket in a visitor's cookie, or None."""
    cookie = request.COOKIES.get(settings.QUEUE_COOKIE_NAME, "")
    try:
        ticket = QueueTicket(*signing.loads(cookie, salt="web.turn")) if cookie else None
    except (signing.BadSignature, TypeError):
        return None
    return ticket if ticket and _counts(ticket, now) else None


def _render_text(sent: list[tuple[str, str]], path: str, seconds: int) -> str:
    return render_to_string("checkout_queue.html", {"sent": sent, "path": path, "seconds": seconds})


@lru_cache(maxsize=64)
def _render_plain_text(path: str) -> str:
    return _render_text([], path, 0)


def render_queue_page(request: HttpRequest, wait: QueueWait) -> HttpResponse:
    """Return the queue's page, which reloads itself and sends a submitted form again. Needs no database.

    Its status is 200, as nothing has failed. Browsers follow Refresh, programs follow Retry-After.
    """
    sent = [(name, value) for name, values in request.POST.lists() for value in values]
    # Without a form, only the headers contain the seconds, so the page itself is rendered only once.
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
    set_cookie(response, settings.QUEUE_COOKIE_NAME, cookie, TICKET_SECONDS)
    return response
