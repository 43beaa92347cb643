"""Measures whether response times of login, password reset and registration reveal which e-mail addresses have an account.

    python -m benchmarks.logins                     # 100 of each
    python -m benchmarks.logins --tries 30          # quicker and rougher

Known and unknown addresses take turns, so that a disturbance meets both. Each attempt comes from another network, below all limits.
The requests go through the whole shop in this process: no network blurs the times. The keyspace is filled with accounts:
CASSANDRA_KEYSPACE=stoa_bench python manage.py migrate makes one.

Ends with status 1 if both times and processor times, which a busy machine does not blur, differ by more than a fifth.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import count
from random import Random
from statistics import median, quantiles
from time import perf_counter, thread_time
from uuid import uuid4

import django

from benchmarks.setup import make_parser
from cassandra_db import current_time

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.settings")

FURTHEST = 1.2
PASSWORD = "seven wet otters"  # noqa: S105 of accounts that only this run has
WITHOUT_LIMIT = dict.fromkeys(("login", "reset", "registration"), (10, 0, 0, 900))


@dataclass
class Times:
    """The seconds and processor seconds of one kind of attempt, with known and with unknown addresses."""

    known: list[float] = field(default_factory=list)
    unknown: list[float] = field(default_factory=list)
    cpu_known: list[float] = field(default_factory=list)
    cpu_unknown: list[float] = field(default_factory=list)

    def took(self, seconds: float, cpu: float, *, known: bool) -> None:
        """Record the times of an attempt."""
        (self.known if known else self.unknown).append(seconds)
        (self.cpu_known if known else self.cpu_unknown).append(cpu)

    @property
    def ratio(self) -> float:
        return median(self.known) / median(self.unknown)

    @property
    def cpu_ratio(self) -> float:
        return median(self.cpu_known) / median(self.cpu_unknown)


def main() -> int:
    """Measure, print, and return the exit status."""
    parser = make_parser("logins", __doc__)
    parser.add_argument(
        "--tries", type=int, default=100, help="of each kind, half of them with known addresses"
    )
    tries = max(4, parser.parse_args().tries)
    django.setup()
    from django.conf import settings
    from django.test import override_settings

    settings.ALLOWED_HOSTS.append("testserver")
    with override_settings(RATE_LIMITS=settings.RATE_LIMITS | WITHOUT_LIMIT):
        measured = {
            "login": _measured(
                "/account/login/",
                tries,
                lambda email: {"email": email, "password": "wrong wrong wrong"},
            ),
            "reset": _measured("/account/reset/", tries, lambda email: {"email": email}),
            "registration": _measured("/account/register/", tries, lambda email: {"email": email}),
        }
    return _report(tries, measured)


def _measured(where: str, tries: int, form: Callable[[str], dict[str, str]]) -> Times:
    """Return the times of a page's answers. Each address is used only once, because a second request would send no mail."""
    from django.test import Client

    from accounts.operations import register_user

    known = [f"known-{uuid4().hex}@bench.example" for _ in range(tries // 2 + 2)]
    for email in known:
        register_user(email, "Benchmark", PASSWORD, current_time())
    turns = list(_in_turn(known))
    times, client, addresses = Times(), Client(), count()
    for turn, (email, known_address) in enumerate(turns):
        address = f"10.{next(addresses) >> 8 & 255}.{turn & 255}.{os.getpid() % 250}"
        client.cookies.clear()
        started, before = perf_counter(), thread_time()
        answer = client.post(where, form(email), REMOTE_ADDR=address)
        took, cpu = perf_counter() - started, thread_time() - before
        if answer.status_code not in (303, 422):
            raise SystemExit(f"{where} answered {answer.status_code}")
        if turn >= 4:  # the first requests prepare statements and load templates
            times.took(took, cpu, known=known_address)
    return times


def _in_turn(known: list[str]) -> Iterator[tuple[str, bool]]:
    """Yield known and unknown addresses in pairs, in random order."""
    chance = Random(4)
    for email in known:
        pair = [(email, True), (f"never-{uuid4().hex}@bench.example", False)]
        chance.shuffle(pair)
        yield from pair


def _report(tries: int, measured: dict[str, Times]) -> int:
    print(f"\n{tries} tries of each kind, half with known addresses; milliseconds.\n")
    print(
        f"{'':16}{'known: median (p10, p90)':>28}{'unknown: median (p10, p90)':>28}{'ratio':>8}{'of CPU time':>13}"
    )
    for kind, times in measured.items():
        print(
            f"{kind:16}{_summary(times.known):>28}{_summary(times.unknown):>28}{times.ratio:>8.3f}{times.cpu_ratio:>13.3f}"
        )
    far = [kind for kind, times in measured.items() if _far(times.ratio) and _far(times.cpu_ratio)]
    print(
        f"\nTOO FAR APART: {', '.join(far)}"
        if far
        else "\nThe time does not show who has an account."
    )
    return 1 if far else 0


def _far(ratio: float) -> bool:
    return not 1 / FURTHEST <= ratio <= FURTHEST


def _summary(seconds: list[float]) -> str:
    tenths = quantiles(seconds, n=10)
    return f"{median(seconds) * 1000:.1f} ({tenths[0] * 1000:.1f}, {tenths[-1] * 1000:.1f})"


if __name__ == "__main__":
    raise SystemExit(main())
