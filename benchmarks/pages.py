"""Measures a page's cost for four kinds of visitors, beside a bare Django view that renders the same template from memory.

    python -m benchmarks.pages                                   # the keyspace of the settings
    python -m benchmarks.pages --compare stoa_scale              # and a keyspace with many products beside it
    python -m benchmarks.pages --slices 5 --seconds 0.5          # quicker and rougher
    python -m benchmarks.pages --without navigation product_body # the savings by these cached fragments, or by all

Shop and view are served by gunicorn with the configuration of the shop: 2 workers, threads, DEBUG off. Slices of all are interleaved,
so that a disturbance meets all of them. The bounds are for a database and a load generator on the same machine. The CPU time of a
request is the time that the server's workers used, without the database. These figures are without compression. The last columns
have the additional CPU time when a browser accepts gzip, and the bytes that are sent then.

"first" is a visitor without cookies, "second" one who has viewed a product before, "cart" a guest with a cart, "member" a member who is
logged in. "first" and "second" get front page, category, product, search and help from memory (decision 045). Carts have no bound.

Ends with status 1 if a bound is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import monotonic, sleep
from typing import Any

import psutil

from benchmarks.load import HOST, Load, Slice
from cassandra_db import current_time

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("front", "category", "product", "search", "help", "cart")
VISITORS = ("first", "second", "cart", "member")
COMPRESSED = ", gzip"
MOST_ROUNDS = {"first": 2, "second": 2, "cart": 2, "member": 3}


@dataclass(frozen=True)
class Bounds:
    """The bounds of a page for a kind of visitor, as ratios to the bare view; 0 means no bound."""

    least_rate: float = 0
    most_cpu: float = 0


FIRST, SECOND = Bounds(4.0), Bounds(3.0)
# The bounds while the database uses the same cores.
ON_THE_SAME_CORES, PRODUCT_ON_THE_SAME_CORES = Bounds(0.8, 1.0), Bounds(0.6, 1.2)
CPU_MAY_GROW = 1.25
ELSEWHERE = """\
For scale: django-oscar 4.2 (PostgreSQL, 209 products, 2 workers, two such cores) served a category page 2.9 times a second
(6.6 without spelling suggestions), a search 7 (59), a product page 74, at 128, 10 and 18 SQL queries; with 100,000 products
a list page took it 4.3 s."""


def find_bounds(page: str, who: str) -> Bounds:
    """Return the bounds that hold for a page and a kind of visitor."""
    if page == "cart":
        return Bounds()
    if who in ("first", "second"):
        return FIRST if who == "first" else SECOND
    return PRODUCT_ON_THE_SAME_CORES if page == "product" else ON_THE_SAME_CORES


@dataclass
class Server:
    """A running gunicorn with its workers."""

    name: str
    port: int
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """The processor time that the workers have used so far."""
        return sum(sum(worker.cpu_times()[:2]) for worker in self.process.children(recursive=True))


@dataclass
class PageFigures:
    """The figures of one page on one server."""

    slices: list[Slice] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # ms a request, by slice

    @property
    def rate(self) -> float:
        return median(each.rate for each in self.slices)

    @property
    def cpu_ms(self) -> float:
        return median(self.cpu)

    def percentile(self, share: float) -> float:
        return median(each.percentile(share) for each in self.slices)


def main() -> int:
    """Measure, print, and return the exit status."""
    args = _arguments()
    if args.probe:
        print(json.dumps(probe_pages()))
        return 0
    if args.without is not None:
        os.environ.update(shop_environment(args.keyspace, COUNT_STATEMENTS="0"))
        from benchmarks.fragments import measure_savings

        measure_savings(args.without, args.pages, args.slices)
        return 0
    keyspaces = [args.keyspace, *args.compare]
    collect = [sys.executable, "manage.py", "collectstatic", "--no-input", "-v0"]
    subprocess.run(collect, cwd=ROOT, env=shop_environment(args.keyspace), check=True)
    pages = {keyspace: _probe(keyspace) for keyspace in keyspaces}
    with ExitStack() as stack:
        load = stack.enter_context(Load(args.connections))
        servers = {keyspace: stack.enter_context(serve_shop(keyspace)) for keyspace in keyspaces}
        bare = {
            keyspace: stack.enter_context(_bare(keyspace, pages[keyspace]))
            for keyspace in keyspaces
        }
        measured = _measure(args, load, servers, bare, pages)
    return _report(args, pages, measured)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.pages", description="What the shop's pages cost."
    )
    parser.add_argument("--keyspace", default=os.environ.get("CASSANDRA_KEYSPACE", "stoa"))
    parser.add_argument(
        "--compare",
        action="append",
        default=[],
        metavar="KEYSPACE",
        help="measure this one beside it",
    )
    parser.add_argument("--slices", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a slice")
    parser.add_argument("--connections", type=int, default=8)
    parser.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES)
    parser.add_argument("--without", nargs="*", metavar="NAME", help="of a fragment")
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- the measured pages, and their statements in Cassandra


def _probe(keyspace: str) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.pages", "--probe"]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env=shop_environment(keyspace),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def probe_pages() -> dict[str, Any]:
    """Choose a page of each kind in this process's keyspace. Return its address, and its counts for each kind of visitor."""
    import django

    django.setup()
    from django.conf import settings

    from benchmarks import visitors
    from catalogue.search_index import refresh_index

    refresh_index(current_time())
    settings.ALLOWED_HOSTS.append("testserver")
    urls = visitors.page_urls()
    cookies: dict[str, dict[str, str]] = {
        "first": {},
        "second": visitors.make_second_page_cookies(),
        "cart": visitors.make_guest_cookies(),
        "member": visitors.make_member_cookies(),
    }
    return {
        name: {
            "url": url,
            # The page of an empty cart is no yardstick for the page of a full cart.
            "bare_cookies": cookies["cart"] if name == "cart" else {},
            "cookies": cookies,
            "counted": {who: _count(url, cookies[who]) for who in VISITORS},
        }
        for name, url in urls.items()
    }


def _count(url: str, cookies: dict[str, str]) -> dict[str, int]:
    """Return the cost of a page for the next visitor: statements, rounds, bytes, and the numbers of cached parts."""
    from django.test import Client

    from web.text_cache import FRAGMENTS, WHOLE_PAGES

    # Only the second request counts: at the first one the process reads the categories and prepares its statements.
    for _ in range(2):
        client = Client()
        for cookie, value in cookies.items():
            client.cookies[cookie] = value
        hits, asked = (
            sum(each.hits for each in (FRAGMENTS, WHOLE_PAGES)),
            sum(each.lookup_count for each in (FRAGMENTS, WHOLE_PAGES)),
        )
        answer = client.get(url)
        hits, asked = (
            sum(each.hits for each in (FRAGMENTS, WHOLE_PAGES)) - hits,
            sum(each.lookup_count for each in (FRAGMENTS, WHOLE_PAGES)) - asked,
        )
        if answer.status_code != 200:
            raise SystemExit(f"{url} answered {answer.status_code}")
        compressed = client.get(url, headers={"Accept-Encoding": "gzip"})
    counts = dict(part.split("=") for part in answer["X-Cassandra"].split(", "))
    return {key: int(value) for key, value in counts.items()} | {
        "bytes": len(answer.content),
        "cards": answer.content.count(b'class="card"'),
        "sent": len(compressed.content),
        "hits": hits,
        "asked": asked,
    }


# ---- servers


def shop_environment(keyspace: str, **more: str) -> dict[str, str]:
    """Return the environment of a shop on this keyspace, as in production.

    BENCHMARK_KEYSPACE stands for every keyspace: with it `make prove` runs the benchmarks briefly, on the tables of the suite.
    """
    return os.environ | {
        "CASSANDRA_KEYSPACE": os.environ.get("BENCHMARK_KEYSPACE", keyspace),
        "DJANGO_SETTINGS_MODULE": "storefront.settings",
        "DEBUG": "0",
        "STOA_HTTPS": "0",
        "COUNT_STATEMENTS": "1",
        "LOG_LEVEL": "ERROR",
        "SECRET_KEY": os.environ.get("SECRET_KEY") or "benchmark-" + "0" * 50,
        "SEARCH_INDEX_DIR": str(Path(tempfile.gettempdir()) / "stoa-benchmark-search"),
        "STATIC_ROOT": str(Path(tempfile.gettempdir()) / "stoa-benchmark-static"),
        "WEB_CONCURRENCY": "1" if "BENCHMARK_KEYSPACE" in os.environ else "2",
        "WEB_THREADS": "8",
        # A replaced worker closes the load's connections. Cached pages would bring a worker to its limit within a minute.
        "GUNICORN_CMD_ARGS": "--max-requests 0",
        "LIMIT_ORDER": "0,0,0,600",  # all buyers come from one address
        # All of the load comes from one address.
        "LIMIT_SEARCH": "0,0,0,60",
        **more,
    }


def serve_shop(keyspace: str) -> Any:
    """Serve the shop, as a context manager that yields a Server."""
    return _served(
        f"shop ({keyspace})",
        "storefront.wsgi:application",
        shop_environment(keyspace, COUNT_STATEMENTS="0"),
    )


def _bare(keyspace: str, pages: dict[str, Any]) -> Any:
    more = {
        "DJANGO_SETTINGS_MODULE": "benchmarks.bare_settings",
        "BENCHMARK_PAGES": json.dumps(pages),
        "COUNT_STATEMENTS": "0",
        "LOG_LEVEL": "CRITICAL",  # otherwise it would log that the warm-up finds none of the shop's pages
    }
    return _served(
        f"bare view ({keyspace})",
        "benchmarks.bare:application()",
        shop_environment(keyspace, **more),
    )


@contextmanager
def _served(name: str, application: str, environment: dict[str, str]) -> Iterator[Server]:
    with socket.socket() as free:
        free.bind((HOST, 0))
        port = free.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "gunicorn.conf.py",
        "--bind",
        f"{HOST}:{port}",
        application,
    ]
    # The pages are recorded while the workers load, in both workers at once.
    process = subprocess.Popen([*command, "--timeout", "120"], cwd=ROOT, env=environment)
    try:
        _wait(process, port)
        yield Server(name, port, psutil.Process(process.pid))
    finally:
        process.terminate()
        process.wait(30)


def _wait(process: subprocess.Popen[bytes], port: int) -> None:
    until = monotonic() + 90
    while monotonic() < until and process.poll() is None:
        try:
            with socket.create_connection((HOST, port), timeout=20) as probe:
                probe.sendall(b"GET /healthz HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
                if probe.recv(1):
                    return
        except OSError:
            sleep(0.2)
    raise SystemExit("gunicorn did not come up")


# ---- measuring


def _measure(
    args: argparse.Namespace,
    load: Load,
    servers: dict[str, Server],
    bare: dict[str, Server],
    pages: dict[str, dict[str, Any]],
) -> dict[tuple[str, str, str], PageFigures]:
    """Return the figures by visitor (one of VISITORS, also with COMPRESSED behind it, or "bare"), keyspace and page."""
    figures: dict[tuple[str, str, str], PageFigures] = {}
    for page in args.pages:
        runs = []
        for keyspace, found in pages.items():
            probe = found[page]
            runs.append(("bare", keyspace, bare[keyspace], f"/bare/{page}", ""))
            for who in VISITORS:
                to, path = servers[keyspace], probe["url"]
                cookie = _cookie(probe["cookies"][who])
                runs += [(each, keyspace, to, path, cookie) for each in (who, who + COMPRESSED)]
        for _, _, server, path, cookie in runs:  # warms both workers
            load.run(server.port, path, cookie, args.seconds)
        for _ in range(args.slices):
            for who, keyspace, server, path, cookie in runs:
                before = server.cpu_seconds()
                is_compressed = who.endswith(COMPRESSED)
                got = load.run(server.port, path, cookie, args.seconds, is_compressed=is_compressed)
                figure = figures.setdefault((who, keyspace, page), PageFigures())
                figure.slices.append(got)
                figure.cpu.append((server.cpu_seconds() - before) * 1000 / len(got.latencies))
    return figures


def _cookie(cookies: dict[str, str]) -> str:
    return "; ".join(f"{name}={value}" for name, value in cookies.items())


def _report(
    args: argparse.Namespace,
    pages: dict[str, dict[str, Any]],
    figures: dict[tuple[str, str, str], PageFigures],
) -> int:
    print(
        f"\n{args.slices} slices of {args.seconds} s a page, {args.connections} connections, medians; "
        f"{os.cpu_count()} processors for database, servers and load together.\n"
    )
    print(
        f"{'':34}{'req/s':>8}{'p50 ms':>8}{'p99 ms':>8}{'CPU ms':>8}{'rate':>7}{'CPU':>6}{'KB':>6}{'+gzip':>7}{'KB':>6}  statements/rounds, hits/asked"
    )
    missed: list[str] = []
    small = next(iter(pages))
    for page in args.pages:
        for keyspace, found in pages.items():
            bare = figures["bare", keyspace, page]
            print(_row(f"{page}, {keyspace}: bare view", bare))
            for who in VISITORS:
                shop, counted = figures[who, keyspace, page], found[page]["counted"][who]
                rate, cpu = shop.rate / bare.rate, shop.cpu_ms / bare.cpu_ms
                more_ms = figures[who + COMPRESSED, keyspace, page].cpu_ms - shop.cpu_ms
                print(
                    _row(f"  {who}", shop)
                    + f"{rate:>7.2f}{cpu:>6.2f}{counted['bytes'] / 1000:>6.0f}"
                    + f"{more_ms:>7.2f}{counted['sent'] / 1000:>6.1f}"
                    + f"  {counted['statements']}/{counted['rounds']}, {counted['hits']}/{counted['asked']}"
                )
                missed += _missed(page, keyspace, who, rate, cpu, counted["rounds"])
                if keyspace != small:
                    missed += _grown(page, who, small, keyspace, pages, figures)
    print(f"\n{ELSEWHERE}\n")
    print("\n".join(f"MISSED: {line}" for line in missed) or "All bounds are kept.")
    return 1 if missed else 0


def _row(name: str, figure: PageFigures) -> str:
    return f"{name:34}{figure.rate:>8.0f}{figure.percentile(0.5):>8.1f}{figure.percentile(0.99):>8.1f}{figure.cpu_ms:>8.2f}"


def _missed(page: str, keyspace: str, who: str, rate: float, cpu: float, rounds: int) -> list[str]:
    bounds, missed = find_bounds(page, who), []
    if rate < bounds.least_rate:
        missed.append(f"has {rate:.2f} of the bare view's throughput, not {bounds.least_rate}")
    if bounds.most_cpu and cpu > bounds.most_cpu:
        missed.append(f"takes {cpu:.2f} of the bare view's CPU, not {bounds.most_cpu}")
    if rounds > MOST_ROUNDS[who]:
        missed.append(f"takes {rounds} rounds of reads, not {MOST_ROUNDS[who]}")
    return [f"{page} ({keyspace}), {who}: {each}" for each in missed]


def _grown(
    page: str,
    who: str,
    small: str,
    large: str,
    pages: dict[str, dict[str, Any]],
    figures: dict[tuple[str, str, str], PageFigures],
) -> list[str]:
    """Return a text for each cost of a page that has grown too much in the large shop.

    The number of related products differs between shops, but it does not grow with the shop.
    """
    grown = []
    was, now = (pages[keyspace][page]["counted"][who] for keyspace in (small, large))
    if (was["statements"], was["rounds"]) != (now["statements"], now["rounds"]):
        grown.append("statements and rounds are not those of the small shop")
    before, after = (figures[who, keyspace, page].cpu_ms for keyspace in (small, large))
    if after > before * CPU_MAY_GROW:
        cards = f"{now['cards']} cards, {was['cards']} in the small shop"
        grown.append(f"{after:.2f} ms of CPU a request, {before:.2f} in the small shop ({cards})")
    return [f"{page} ({large}), {who}: {each}" for each in grown]


if __name__ == "__main__":
    raise SystemExit(main())
