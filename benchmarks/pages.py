"""What a page costs: the shop beside a bare Django view that renders the same template from memory.

    python -m benchmarks.pages                                   # the keyspace of the settings
    python -m benchmarks.pages --compare stoa_scale              # and a keyspace with many products beside it
    python -m benchmarks.pages --slices 5 --seconds 0.5          # quicker and rougher

Both are served by gunicorn with the shop's own configuration: 2 workers, threads, DEBUG off. The slices of all servers are interleaved,
so that a disturbance meets all of them. The database and the load generator run on the same machine: that is how the bounds
are meant. CPU a request is what the server's workers used, without the database's part.

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
PAGES = ("front", "category", "product", "cart", "search")
GUEST_ROUNDS, MEMBER_ROUNDS = 2, 3
LEAST_RATIO = {"category": 0.3, "product": 0.3}
CPU_MAY_GROW = 1.25
ELSEWHERE = """\
For scale: django-oscar 4.2 (PostgreSQL, 209 products, 2 workers, two such cores) served a category page 2.9 times a second
(6.6 without spelling suggestions), a search 7 (59), a product page 74, at 128, 10 and 18 SQL queries; with 100,000 products
a list page took it 4.3 s."""


@dataclass
class Server:
    """A gunicorn with its workers."""

    name: str
    port: int
    process: psutil.Process

    def cpu_seconds(self) -> float:
        """The processor time that the workers have used so far."""
        return sum(sum(worker.cpu_times()[:2]) for worker in self.process.children(recursive=True))


@dataclass
class PageFigures:
    """A page on one server."""

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
    parser.add_argument("--probe", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


# ---- which pages, and what they ask of Cassandra


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
    """Choose a page of each kind in this process's keyspace, and count statements and rounds for guest and member."""
    import django

    django.setup()
    from django.conf import settings
    from django.test import Client

    from benchmarks import visitors
    from catalogue.search import refresh_index

    refresh_index(current_time())
    settings.ALLOWED_HOSTS.append("testserver")
    urls = visitors.page_urls()
    guest, member = visitors.make_guest_cookies(), visitors.make_member_cookies()
    found: dict[str, Any] = {}
    for name, url in urls.items():
        counted = {}
        for who, cookies in (("guest", guest), ("member", member)):
            client = Client()
            for cookie, value in cookies.items():
                client.cookies[cookie] = value
            # once before, for what a process reads once: the categories, the prepared statements
            client.get(url)
            answer = client.get(url)
            if answer.status_code != 200:
                raise SystemExit(f"{url} answered {answer.status_code}")
            counts = dict(part.split("=") for part in answer["X-Cassandra"].split(", "))
            counted[who] = {key: int(value) for key, value in counts.items()} | {
                "bytes": len(answer.content)
            }
        found[name] = {"url": url, "cookies": guest if name == "cart" else {}, "counted": counted}
    return found


# ---- servers


def shop_environment(keyspace: str, **more: str) -> dict[str, str]:
    """Return the environment of a shop on this keyspace, as it would be served."""
    return os.environ | {
        "CASSANDRA_KEYSPACE": keyspace,
        "DJANGO_SETTINGS_MODULE": "storefront.settings",
        "DEBUG": "0",
        "STOA_HTTPS": "0",
        "COUNT_STATEMENTS": "1",
        "LOG_LEVEL": "ERROR",
        "SECRET_KEY": os.environ.get("SECRET_KEY") or "benchmark-" + "0" * 50,
        "SEARCH_INDEX_DIR": str(Path(tempfile.gettempdir()) / "stoa-benchmark-search"),
        "STATIC_ROOT": str(Path(tempfile.gettempdir()) / "stoa-benchmark-static"),
        "WEB_CONCURRENCY": "2",
        "WEB_THREADS": "8",
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
        "LOG_LEVEL": "CRITICAL",  # it says that it has none of the shop's pages to warm up by
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
    # The recorded pages are made while a worker loads, in both workers at once.
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
    """Return the figures by kind of server ("shop", "bare"), keyspace and page."""
    figures: dict[tuple[str, str, str], PageFigures] = {}
    for page in args.pages:
        runs = []
        for keyspace, found in pages.items():
            probe = found[page]
            runs.append(
                ("shop", keyspace, servers[keyspace], probe["url"], _cookie(probe["cookies"]))
            )
            runs.append(("bare", keyspace, bare[keyspace], f"/bare/{page}", ""))
        for _, _, server, path, cookie in runs:  # both workers warm
            load.run(server.port, path, cookie, 1.0)
        for _ in range(args.slices):
            for kind, keyspace, server, path, cookie in runs:
                before = server.cpu_seconds()
                got = load.run(server.port, path, cookie, args.seconds)
                figure = figures.setdefault((kind, keyspace, page), PageFigures())
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
        f"{'':34}{'req/s':>8}{'p50 ms':>8}{'p99 ms':>8}{'CPU ms':>8}{'ratio':>7}{'KB':>6}  statements/rounds (guest, member)"
    )
    missed: list[str] = []
    small = next(iter(pages))
    for page in args.pages:
        for keyspace, found in pages.items():
            shop, bare = figures["shop", keyspace, page], figures["bare", keyspace, page]
            ratio, counted = shop.rate / bare.rate, found[page]["counted"]
            size = counted["guest"]["bytes"] / 1000
            print(
                _row(f"{page}, {keyspace}", shop) + f"{ratio:>7.2f}{size:>6.0f}  {_counts(counted)}"
            )
            print(_row("  a bare view of the same", bare))
            missed += _missed(page, keyspace, ratio, counted)
            if keyspace != small:
                missed += _grown(page, small, keyspace, pages, figures)
    print(f"\n{ELSEWHERE}\n")
    print("\n".join(f"MISSED: {line}" for line in missed) or "All bounds are kept.")
    return 1 if missed else 0


def _row(name: str, figure: PageFigures) -> str:
    return f"{name:34}{figure.rate:>8.0f}{figure.percentile(0.5):>8.1f}{figure.percentile(0.99):>8.1f}{figure.cpu_ms:>8.2f}"


def _counts(counted: dict[str, dict[str, int]]) -> str:
    return ", ".join(
        f"{counted[who]['statements']}/{counted[who]['rounds']}" for who in ("guest", "member")
    )


def _missed(
    page: str, keyspace: str, ratio: float, counted: dict[str, dict[str, int]]
) -> list[str]:
    missed = []
    if ratio < LEAST_RATIO.get(page, 0):
        missed.append(
            f"{page} ({keyspace}) has {ratio:.2f} of the bare view's throughput, not {LEAST_RATIO[page]}"
        )
    for who, most in (("guest", GUEST_ROUNDS), ("member", MEMBER_ROUNDS)):
        if counted[who]["rounds"] > most:
            missed.append(
                f"{page} ({keyspace}) takes a {who} {counted[who]['rounds']} rounds of reads, not {most}"
            )
    return missed


def _grown(
    page: str,
    small: str,
    large: str,
    pages: dict[str, dict[str, Any]],
    figures: dict[tuple[str, str, str], PageFigures],
) -> list[str]:
    """Return what a page costs more in the large shop. What there is more to draw, the bare view has to draw as well: it is taken out."""
    grown = []
    for who in ("guest", "member"):
        was, now = (pages[keyspace][page]["counted"][who] for keyspace in (small, large))
        if (was["statements"], was["rounds"]) != (now["statements"], now["rounds"]):
            grown.append(
                f"{page} ({large}): statements and rounds for a {who} are not those of the small shop"
            )
    before = figures["shop", small, page].cpu_ms
    drawing = figures["bare", large, page].cpu_ms - figures["bare", small, page].cpu_ms
    after = figures["shop", large, page].cpu_ms - drawing
    if after > before * CPU_MAY_GROW:
        grown.append(
            f"{page} ({large}): {after:.2f} ms of CPU a request, {before:.2f} in the small shop"
        )
    return grown


if __name__ == "__main__":
    raise SystemExit(main())
