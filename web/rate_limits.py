"""How often something may be tried: by account, by network address, and by all together.

A limit has as many slots as it allows tries, and each try first writes itself into a free one, by IF NOT EXISTS: a try
that gets none is refused. The slot comes free by its TTL, a window after it was taken. So no race lets more through and none
lets too few through, the window slides, hammering writes nothing, and a partition cannot grow.

Strangers lock no user out: a browser that has logged in before (accounts.known_devices) comes with a bucket of its own, and
is counted there alone.

    hit_rate_limit(request, "lookup", email)        # raises TooManyAttempts, which is answered with 429
"""

import ipaddress
import logging
import threading
from collections import Counter
from dataclasses import dataclass
from random import SystemRandom
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from cassandra_db import (
    REFUSED_MEANS_DONE,
    Row,
    applied_if,
    conditional_write,
    current_time,
    read,
)
from web.errors import TooManyAttempts

TAKEN_SLOTS = read(
    "limits",
    "SELECT slot, TTL(hit_id) AS seconds FROM rate_limit_slots WHERE bucket = :bucket AND shard = :shard",
)
TAKE_SLOT = conditional_write(
    "limits",
    """INSERT INTO rate_limit_slots (bucket, shard, slot, hit_id) VALUES (:bucket, :shard, :slot, :hit_id)
       IF NOT EXISTS USING TTL :seconds""",
)
RELEASE_SLOT = conditional_write(
    "limits",
    "DELETE FROM rate_limit_slots WHERE bucket = :bucket AND shard = :shard AND slot = :slot IF hit_id = :hit_id",
)
SLOTS_PER_PARTITION = 100
_ADDRESSES_IN_MEMORY = 100_000
_random = SystemRandom()
log = logging.getLogger(__name__)
# For each kind: the window, and the tries of each network in it.
_seen: dict[str, tuple[int, Counter[str]]] = {}
_seen_lock = threading.Lock()


@dataclass(frozen=True)
class RateLimit:
    """How many tries there may be within `window` seconds; a limit of 0 does not count."""

    kind: str
    per_account: int
    per_address: int
    overall: int
    window: int


def get_rate_limit(kind: str) -> RateLimit:
    """Return the limit of a kind, as `settings.RATE_LIMITS` has it. Raises KeyError for a kind that is not there."""
    return RateLimit(kind, *settings.RATE_LIMITS[kind])


@dataclass(frozen=True)
class _Slot:
    bucket: str
    shard: int
    slot: int


@dataclass(frozen=True)
class Hit:
    """A try that was let through, and the slots that it takes."""

    hit_id: UUID
    slots: tuple[_Slot, ...]

    def release_slots(self) -> None:
        """Give the slots back, for a try that was no guess: the password was right. Raises CassandraUnavailable."""
        for each in self.slots:
            # No other row has this id: refused means that the slot has come free by itself.
            RELEASE_SLOT.apply(
                if_lost=REFUSED_MEANS_DONE,
                bucket=each.bucket,
                shard=each.shard,
                slot=each.slot,
                hit_id=self.hit_id,
            )


def hit_rate_limit(request: HttpRequest, kind: str, *accounts: str, device_bucket: str = "") -> Hit:
    """Count a try at something limited, before it is made.

    `accounts` names whose account is tried: an e-mail address, an order's number, a member's id. With `device_bucket`, the bucket of a
    device that has logged in there before, only that one counts. Raises TooManyAttempts, CassandraUnavailable.
    """
    rule, hit_id = get_rate_limit(kind), uuid4()
    whose = (
        [(f"own {device_bucket}", rule.per_account)]
        if device_bucket
        else _buckets(rule, network_address(request), accounts)
    )
    buckets = [_Bucket(kind, name, most, rule.window) for name, most in whose if most]
    taken_slots: list[_Slot] = []
    try:
        for bucket in buckets:
            bucket.refuse_if_full()
        for bucket in buckets:
            taken_slots.append(bucket.take_slot(hit_id))  # noqa: PERF401 those before a refusal are given back
    except TooManyAttempts:
        log.info("too many tries: %s", kind)
        Hit(hit_id, tuple(taken_slots)).release_slots()
        raise
    return Hit(hit_id, tuple(taken_slots))


def _buckets(rule: RateLimit, address: str, accounts: tuple[str, ...]) -> list[tuple[str, int]]:
    return [
        (f"address {address}", rule.per_address),
        *((f"account {account}", rule.per_account) for account in accounts),
        ("overall", rule.overall),
    ]


class _Bucket:
    """The slots of one limit. It starts reading which are taken when it is made."""

    def __init__(self, kind: str, name: str, most: int, window: int) -> None:
        # Keyed: the table does not show whose mailbox or network it was.
        self.key = salted_hmac("web.limits", f"{kind} {name}", algorithm="sha256").hexdigest()
        self.most, self.window = most, window
        self.shard_count = -(-most // SLOTS_PER_PARTITION)
        self.first = _random.randrange(self.shard_count)
        self._reading = TAKEN_SLOTS.start(bucket=self.key, shard=self.first)
        self._rows: list[Row] | None = None

    def refuse_if_full(self) -> None:
        """Raise TooManyAttempts if there is no slot at first sight: then nothing is written in the other buckets, either."""
        self._rows = self._reading.rows()
        if self.shard_count == 1 and not self._free_slots(self.first, self._rows):
            raise TooManyAttempts(_soonest(self._rows, self.window))

    def take_slot(self, hit_id: UUID) -> _Slot:
        """Write the try into a free slot. Raises TooManyAttempts, CassandraUnavailable."""
        wait = self.window
        for step in range(self.shard_count):
            shard = (self.first + step) % self.shard_count
            rows = self._rows if step == 0 and self._rows is not None else self._read_slots(shard)
            while free := self._free_slots(shard, rows):
                slot = _Slot(self.key, shard, _random.choice(free))
                if self._write_slot(slot, hit_id):
                    return slot
                # Another try was quicker: each time that happens, there is one slot less.
                rows = self._read_slots(shard)
            wait = min(wait, _soonest(rows, wait))
        raise TooManyAttempts(wait)

    def _write_slot(self, slot: _Slot, hit_id: UUID) -> bool:
        return bool(
            TAKE_SLOT.apply(
                if_lost=applied_if(lambda row: bool(row.hit_id == hit_id)),
                bucket=slot.bucket,
                shard=slot.shard,
                slot=slot.slot,
                hit_id=hit_id,
                seconds=self.window,
            )
        )

    def _read_slots(self, shard: int) -> list[Row]:
        return TAKEN_SLOTS.all(bucket=self.key, shard=shard)

    def _free_slots(self, shard: int, rows: list[Row]) -> list[int]:
        slot_count = min(SLOTS_PER_PARTITION, self.most - shard * SLOTS_PER_PARTITION)
        taken = {row.slot for row in rows}
        return [slot for slot in range(slot_count) if slot not in taken]


def _soonest(rows: list[Row], window: int) -> int:
    return min((row.seconds for row in rows if row.seconds), default=window)


def hit_local_rate_limit(request: HttpRequest, kind: str) -> None:
    """Count a try by its network address, in this process alone. Raises TooManyAttempts.

    For what costs less than a write would: a suggestion is one read. With several processes a visitor gets as many times
    the limit, which is generous anyway and keeps nothing secret. The window is fixed and starts for all at once.
    """
    rule, now = get_rate_limit(kind), int(current_time().timestamp())
    window, who = now // rule.window, network_address(request)
    with _seen_lock:
        since, counted = _seen.get(kind, (0, Counter[str]()))
        if since != window or len(counted) > _ADDRESSES_IN_MEMORY:
            counted = Counter()
        counted[who] += 1
        tries = counted[who]
        _seen[kind] = window, counted
    if rule.per_address and tries > rule.per_address:
        raise TooManyAttempts(rule.window - now % rule.window)


def network_address(request: HttpRequest) -> str:
    """Return the network that a request comes from: an IPv4 address, or the 64 bits that one IPv6 household has.

    Behind a proxy (BEHIND_PROXY) it is the last one in X-Forwarded-For: that one the proxy has seen, all before it are hearsay.
    """
    given = str(request.META.get("REMOTE_ADDR", ""))
    if settings.BEHIND_PROXY:
        given = request.META.get("HTTP_X_FORWARDED_FOR", "").rpartition(",")[2].strip() or given
    # Some proxies name the port, too: "192.0.2.1:4711", "[2001:db8::1]:4711".
    host = given[1:].partition("]")[0] if given.startswith("[") else given
    host = host.partition(":")[0] if host.count(":") == 1 else host
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        mapped = address.ipv4_mapped
        return str(mapped) if mapped else str(ipaddress.ip_network((int(address) >> 64 << 64, 64)))
    return str(address)
