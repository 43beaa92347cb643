"""Rate limits by account, by network address, and for the whole shop.

A limit has a slot for each attempt that it allows. An attempt first writes itself into a free slot, by IF NOT EXISTS. It is
refused if no slot is free. A TTL frees the slot when the limit's window is over. So exactly as many attempts pass as the limit
allows, even if they race. The window slides, refused attempts write nothing, and partitions cannot grow.

Strangers cannot lock an account's owner out. An account that anybody can name (an e-mail address) is refused only to the
network that has tried it too often; other networks get delayed answers. When the whole shop's limit is reached, all answers are
delayed, and staff see an alarm. The attempts of a browser that has logged in before (accounts.known_devices) count only in its
own bucket of slots. Why: docs/decisions/024.

    hit_rate_limit(request, "invitation", str(user.pk))     # raises TooManyAttempts, which is answered with 429
    hit_rate_limit(request, "reset", named=[email])
"""

from __future__ import annotations

import ipaddress
import logging
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from random import SystemRandom
from time import sleep
from uuid import UUID, uuid4

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from cassandra_db import REFUSED_MEANS_DONE, Row, applied_if, conditional_write, current_time, read
from web.errors import TooManyAttempts

TAKEN_SLOTS = read(
    "limits",
    "SELECT slot, hit_id, TTL(hit_id) AS seconds FROM rate_limit_slots WHERE bucket = :bucket AND shard = :shard",
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
# A provider gives a household a /64, a /56 or a /48. A /56 and a /48 may use this many times the limit of a /64.
_IPV6_NETWORKS = {64: 1, 56: 4, 48: 16}
# How long an alarm lasts, in seconds. If there are still too many attempts then, the alarm is raised again.
ALARM_SECONDS = 3600
_OVERALL = "overall"
# The seconds after which an attempt may be repeated, if it was refused because too many attempts were being delayed.
_RETRY_SECONDS = 30
_ADDRESSES_IN_MEMORY = 100_000
_random = SystemRandom()
log = logging.getLogger(__name__)
# For each kind of attempt: the current window, and the number of attempts of each network in this window.
_seen: dict[str, tuple[int, Counter[str]]] = {}
_seen_lock = threading.Lock()
# How many threads of this process may delay an attempt at a time. The other threads serve the rest of the shop.
_delays = threading.BoundedSemaphore(settings.RATE_LIMIT_DELAYS_AT_ONCE)


@dataclass(frozen=True)
class RateLimit:
    """How many attempts are allowed within `window` seconds; 0 is no limit."""

    kind: str
    per_account: int
    per_address: int
    overall: int
    window: int


def get_rate_limit(kind: str) -> RateLimit:
    """Return the limit for a kind of attempt from `settings.RATE_LIMITS`. Raises KeyError for an unknown kind."""
    return RateLimit(kind, *settings.RATE_LIMITS[kind])


@dataclass(frozen=True)
class _Slot:
    bucket: str
    shard: int
    slot: int


@dataclass
class Hit:
    """An attempt that was let through, and the slots that it takes."""

    hit_id: UUID
    slots: list[_Slot] = field(default_factory=list)
    is_above_overall: bool = False  # the whole shop's limit is exceeded

    def take_slot(self, bucket: _Bucket) -> None:
        """Take a slot in a bucket, unless this attempt already has a slot there. Raises TooManyAttempts, CassandraUnavailable."""
        if slot := bucket.take_slot(self.hit_id):
            self.slots.append(slot)

    def release_slots(self) -> None:
        """Free the slots of this attempt, because its password was right. Raises CassandraUnavailable."""
        for each in self.slots:
            # Only this attempt has the id, so a refusal means that the slot has expired.
            RELEASE_SLOT.apply(
                if_lost=REFUSED_MEANS_DONE,
                bucket=each.bucket,
                shard=each.shard,
                slot=each.slot,
                hit_id=self.hit_id,
            )


def hit_rate_limit(
    request: HttpRequest,
    kind: str,
    *accounts: str,
    named: Sequence[str] = (),
    device_bucket: str = "",
    hit_id: UUID | None = None,
) -> Hit:
    """Count an attempt of a limited kind before it is made. A repeated attempt with the same `hit_id` is not counted again.

    Only its owner can use up the limit of an account in `accounts`, such as a member's id: then everybody is refused. Anybody can
    use up the limit of an account in `named`, such as an e-mail address: then the network that has tried too often is refused, and
    other networks are delayed. `device_bucket` names the bucket of a device that has logged in before: then only this bucket counts.
    Raises TooManyAttempts, CassandraUnavailable.
    """
    rule, networks = get_rate_limit(kind), list_networks(request)
    refusing, delaying = _limits(rule, networks, accounts, named)
    if device_bucket:
        refusing, delaying = {f"own {device_bucket}": rule.per_account}, {}
    # Making the buckets starts their reads.
    refusing_buckets, delaying_buckets = _buckets(rule, refusing), _buckets(rule, delaying)
    hit = Hit(hit_id or uuid4())
    try:
        for bucket in refusing_buckets.values():
            bucket.refuse_if_full(hit.hit_id)
        for bucket in refusing_buckets.values():
            hit.take_slot(bucket)
        full = [name for name, bucket in delaying_buckets.items() if not _take_slot(hit, bucket)]
        if full:
            network = refusing_buckets.get(_network_bucket(networks[-1][0]))
            _delay(is_over_share=network is not None and network.is_over_share())
    except TooManyAttempts:
        log.info("too many tries: %s", kind)
        hit.release_slots()
        raise
    hit.is_above_overall = _OVERALL in full
    return hit


def hit_account_limit(kind: str, account: str, hit_id: UUID) -> None:
    """Count an attempt that comes without a request, such as a mail, for its account alone. A repeat with the same id counts once.

    Raises TooManyAttempts, CassandraUnavailable.
    """
    rule = get_rate_limit(kind)
    for bucket in _buckets(rule, {f"account {account}": rule.per_account}).values():
        bucket.take_slot(hit_id)


def _network_bucket(network: str) -> str:
    return f"address {network}"


def _limits(
    rule: RateLimit, networks: list[tuple[str, int]], accounts: Iterable[str], named: Iterable[str]
) -> tuple[dict[str, int], dict[str, int]]:
    """Return the buckets that refuse an attempt when full, and the buckets that delay it, each with its number of slots."""
    widest = networks[-1][0]
    refusing = (
        {_network_bucket(network): rule.per_address * share for network, share in networks}
        | {f"account {account}": rule.per_account for account in accounts}
        | {f"account {account} from {widest}": rule.per_account for account in named}
    )
    delaying = {f"account {account}": rule.per_account for account in named}
    return refusing, delaying | {_OVERALL: rule.overall}


def _buckets(rule: RateLimit, limits: dict[str, int]) -> dict[str, _Bucket]:
    return {
        name: _Bucket(rule.kind, name, most, rule.window) for name, most in limits.items() if most
    }


def _take_slot(hit: Hit, bucket: _Bucket) -> bool:
    """Take a slot in a bucket that only delays; return whether one was free. If the whole shop's bucket is full, raise the alarm."""
    is_overall = bucket.name == _OVERALL
    # The whole shop's bucket has many partitions. While its alarm is on, it is enough to read one partition.
    if is_overall and bucket.is_full() and _alarm(bucket.kind).is_full():
        return False
    try:
        bucket.refuse_if_full(hit.hit_id)
        hit.take_slot(bucket)
    except TooManyAttempts:
        if is_overall:
            _raise_alarm(bucket.kind)
        return False
    return True


def _delay(*, is_over_share: bool) -> None:
    """Delay the attempt for some seconds, unless too many threads already delay one.

    With too many, raise TooManyAttempts if the network is over its share. Otherwise go on without delay.
    """
    if _delays.acquire(blocking=False):
        try:
            sleep(settings.RATE_LIMIT_DELAY_SECONDS)
        finally:
            _delays.release()
    elif is_over_share:
        raise TooManyAttempts(_RETRY_SECONDS)


def _raise_alarm(kind: str) -> None:
    """Record for the staff that the whole shop's limit for a kind of attempt is exceeded (`list_alarms`)."""
    with suppress(TooManyAttempts):  # the alarm is on already
        _alarm(kind).take_slot(uuid4())
        log.warning("more tries than the whole shop's limit: %s", kind)


def list_alarms() -> list[str]:
    """Return the kinds of attempts that exceeded the whole shop's limit within the last hour. Raises CassandraUnavailable."""
    alarms = {kind: _alarm(kind) for kind in settings.RATE_LIMITS}
    return [kind for kind, alarm in alarms.items() if alarm.is_full()]


def _alarm(kind: str) -> _Bucket:
    """Return the bucket that stores the alarm for a kind of attempt. While its one slot is taken, the alarm is on."""
    return _Bucket(kind, "alarm", 1, ALARM_SECONDS)


class _Bucket:
    """The slots of one limit. A new object starts the read of the taken slots."""

    def __init__(self, kind: str, name: str, most: int, window: int) -> None:
        self.kind, self.name = kind, name
        # A keyed hash: the table does not show whose mailbox or network was limited.
        self.key = salted_hmac("web.limits", f"{kind} {name}", algorithm="sha256").hexdigest()
        self.most, self.window = most, window
        self.shard_count = -(-most // SLOTS_PER_PARTITION)
        self.first = _random.randrange(self.shard_count)
        self._reading = TAKEN_SLOTS.start(bucket=self.key, shard=self.first)
        self._rows: list[Row] | None = None

    def refuse_if_full(self, hit_id: UUID) -> None:
        """Raise TooManyAttempts if the first read shows no free slot, before the attempt is written to other buckets."""
        if self.shard_count == 1 and self.is_full() and not _has_slot(self._first_rows(), hit_id):
            raise TooManyAttempts(_soonest(self._first_rows(), self.window))

    def is_full(self) -> bool:
        """Return whether the partition that was read first has no free slot."""
        return not self._free_slots(self.first, self._first_rows())

    def is_over_share(self) -> bool:
        """Return whether more than a tenth of the slots in the partition that was read first are taken."""
        rows = self._first_rows()
        return len(rows) * 10 > len(rows) + len(self._free_slots(self.first, rows))

    def _first_rows(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._reading.rows()
        return self._rows

    def take_slot(self, hit_id: UUID) -> _Slot | None:
        """Write the attempt into a free slot, and return the slot; None if the attempt had one. Raises TooManyAttempts, CassandraUnavailable."""
        wait = self.window
        for step in range(self.shard_count):
            shard = (self.first + step) % self.shard_count
            rows = self._first_rows() if step == 0 else self._read_slots(shard)
            # The same attempt may come again, from another tab or after a lost answer.
            while not (is_known := _has_slot(rows, hit_id)) and (
                free := self._free_slots(shard, rows)
            ):
                slot = _Slot(self.key, shard, _random.choice(free))
                if self._write_slot(slot, hit_id):
                    return slot
                # Another attempt has taken this slot. So each round has one free slot less.
                rows = self._read_slots(shard)
            if is_known:
                return None
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


def _has_slot(rows: list[Row], hit_id: UUID) -> bool:
    return any(row.hit_id == hit_id for row in rows)


def _soonest(rows: list[Row], window: int) -> int:
    return min((row.seconds for row in rows if row.seconds), default=window)


def hit_local_rate_limit(request: HttpRequest, kind: str) -> None:
    """Count an attempt in the memory of this process, for its network address. Raises TooManyAttempts.

    Use it for cheap requests, such as search suggestions: a stored count would cost more than the request. Each process allows
    the whole limit, so it must not protect a secret. The window is fixed, and starts for all networks at the same time.
    """
    rule, now = get_rate_limit(kind), int(current_time().timestamp())
    window, networks = now // rule.window, list_networks(request)
    with _seen_lock:
        since, counted = _seen.get(kind, (0, Counter[str]()))
        if since != window or len(counted) > _ADDRESSES_IN_MEMORY:
            counted = Counter()
        counted.update(network for network, _ in networks)
        _seen[kind] = window, counted
        is_over = any(counted[network] > rule.per_address * share for network, share in networks)
    if rule.per_address and is_over:
        raise TooManyAttempts(rule.window - now % rule.window)


def network_address(request: HttpRequest) -> str:
    """Return the smallest network of a request: an IPv4 address or an IPv6 /64; "unknown" for a request without an address."""
    return list_networks(request)[0][0]


def list_networks(request: HttpRequest) -> list[tuple[str, int]]:
    """Return the networks of a request, smallest first, each with a factor: its limit is that many times the smallest one's.

    Behind a proxy (BEHIND_PROXY) the last address in X-Forwarded-For counts: only this address was written by the proxy.
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
        return [("unknown", 1)]
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return [(str(getattr(address, "ipv4_mapped", None) or address), 1)]
    return [
        (str(ipaddress.IPv6Network((int(address), bits), strict=False)), share)
        for bits, share in _IPV6_NETWORKS.items()
    ]
