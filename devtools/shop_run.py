"""Runs the whole shop on this machine: web server, worker, mail catcher, and a Cassandra node.

Each part is a process in a session of its own. So Ctrl-C reaches only this process, which then ends the parts. The process ids of
the parts are recorded below `.run/`, for `make stop`.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from django.conf import settings
from environ import Env

from demo import mark
from devtools.node import control, machine

ROOT: Path = settings.BASE_DIR
RUN_FOLDER = ROOT / ".run"
# The folder for the mails of an empty shop, because this machine has no mail server.
MAIL_FOLDER = RUN_FOLDER / "mail"
# The settings of an empty shop. It is a real shop, but on this machine it needs no certificate, no mail server and no bank.
EMPTY_SHOP = {
    "STOA_HTTPS": "false",
    "EMAIL_URL": f"filemail:///{MAIL_FOLDER}",
    "PAYMENT_METHODS": "transfer",
    "BANK_ACCOUNT": "Example Ltd|IBAN IE64 IRCE 9205 0112 3456 78|BIC IRCEIE2D",
}
OPEN_SECONDS = 60.0
CLOSE_SECONDS = 25.0
# A part that ends within SOON_SECONDS of its start, SOON_ENDS times in a row, is not started again.
SOON_SECONDS = 20.0
SOON_ENDS = 3
_LOG_LINES = 20
# The number of the demo shop's orders that are loaded before it opens.
NEWEST_ORDERS = "200"

Say = Callable[[str], None]


class RunError(Exception):
    """A part of the shop did not start, or ends repeatedly. The message has the last lines of the part's log."""


@dataclass
class _Part:
    """A part of the shop: its process, and the values with which it was started."""

    process: subprocess.Popen[bytes]
    command: Sequence[str]
    keep_open: tuple[int, ...]
    started_at: float
    # The number of times in a row that the part has ended soon after its start.
    soon_ended: int = 0
    # Whether the part is an errand: a process that ends when its work is done.
    is_errand: bool = False


@dataclass
class ShopRun:
    """One run of the shop: its parts and their environment."""

    port: int
    is_development: bool
    say: Say
    environment: dict[str, str]
    parts: dict[str, _Part] = field(default_factory=dict)
    # The parts of the demo shop that are up to date.
    filled: Sequence[str] = ()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def is_demo(self) -> bool:
        return _is_true(self.environment["STOA_DEMO"])

    def log_path(self, name: str) -> Path:
        return RUN_FOLDER / "logs" / f"{name}-{self.port}.log"

    def run_command(self, title: str, *arguments: str, quiet: bool = True) -> str:
        """Run a command of manage.py to its end. Return its output if `quiet`.

        Raises RunError with the output if it fails.
        """
        self.say(title)
        command = [sys.executable, "manage.py", *arguments]
        # Some commands do thousands of parallel writes. Each is slow and would be logged. The command itself reports failures.
        environment = self.environment | {"LOG_LEVEL": "ERROR"}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=quiet,
            check=False,
        )
        if done.returncode:
            printed = (done.stdout + done.stderr).decode(errors="replace") if quiet else ""
            raise RunError(f"`manage.py {' '.join(arguments)}` failed.\n{_tail(printed)}")
        return done.stdout.decode() if quiet else ""

    def launch_part(
        self,
        name: str,
        command: Sequence[str],
        keep_open: tuple[int, ...] = (),
        *,
        is_errand: bool = False,
    ) -> None:
        """Start one part as a process. Its output goes to its log, or to the screen in development.

        An errand ends by itself when its work is done, and is not started again.
        """
        with contextlib.ExitStack() as stack:
            # In development all parts write to the screen.
            mode = "ab" if name in self.parts else "wb"
            log = (
                None if self.is_development else stack.enter_context(self.log_path(name).open(mode))
            )
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=keep_open,
                start_new_session=True,
            )
        self.parts[name] = _Part(process, command, keep_open, time.monotonic(), is_errand=is_errand)
        self.save_record()

    def save_record(self) -> None:
        """Write the record with the process ids of this run."""
        pids = {name: part.process.pid for name, part in self.parts.items()}
        record_path(os.getpid()).write_text(
            json.dumps({"port": self.port, "parts": pids}) + "\n", encoding="utf-8"
        )

    def wait_until_open(self) -> None:
        """Wait until the shop answers. Raises RunError if a part ends before, or if the shop does not answer in time."""
        deadline = time.monotonic() + OPEN_SECONDS
        while not _answers(f"{self.address}healthz"):
            self.check_parts()
            if time.monotonic() > deadline:
                raise RunError(
                    f"{self.address} does not answer after {OPEN_SECONDS:.0f} s.\n{self.log_tail('web')}"
                )
            time.sleep(0.2)
        self.check_parts()

    def check_parts(self) -> None:
        """Raise RunError if a part has ended by itself."""
        for name in self.list_ended_parts():
            raise RunError(f"{self.how_it_ended(name)}.\n{self.log_tail(name)}")

    def list_ended_parts(self) -> list[str]:
        """Return the names of the parts that have ended by themselves."""
        return [
            name
            for name, part in self.parts.items()
            if part.process.poll() is not None and not part.is_errand
        ]

    def forget_ended_errands(self) -> None:
        """Remove the errands that have ended, and report each errand that has failed. The next run does its work again."""
        for name, part in tuple(self.parts.items()):
            if part.is_errand and (exit_code := part.process.poll()) is not None:
                if exit_code:
                    self.say(f"{self.how_it_ended(name)}.\n{self.log_tail(name)}")
                del self.parts[name]
                self.save_record()

    def how_it_ended(self, name: str) -> str:
        """Return a text that says how a part has ended."""
        return f"The {name} process ended (exit code {self.parts[name].process.returncode})"

    def restart_ended_parts(self) -> None:
        """Restart the parts that have ended by themselves. Raises RunError if a part repeatedly ends soon after its start."""
        for name in self.list_ended_parts():
            part = self.parts[name]
            is_soon = time.monotonic() - part.started_at < SOON_SECONDS
            soon_ended = part.soon_ended + 1 if is_soon else 0
            if soon_ended == SOON_ENDS:
                raise RunError(
                    f"{self.how_it_ended(name)}, {SOON_ENDS} times within seconds of its start.\n{self.log_tail(name)}"
                )
            self.say(f"{self.how_it_ended(name)} and is started again")
            _kill_group(part.process)
            self.launch_part(name, part.command, part.keep_open)
            self.parts[name].soon_ended = soon_ended

    def log_tail(self, name: str) -> str:
        """Return the last lines of a part's log."""
        with contextlib.suppress(FileNotFoundError):
            return _tail(self.log_path(name).read_text(encoding="utf-8", errors="replace"))
        return ""

    def close(self) -> None:
        """End all parts, and remove the record of the run."""
        processes = [part.process for part in self.parts.values()]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + CLOSE_SECONDS
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.1, deadline - time.monotonic()))
            _kill_group(process)
            process.wait()
        record_path(os.getpid()).unlink(missing_ok=True)


def serve_shop(
    *, port: int, development: bool, prepare: bool, logins: Sequence[tuple[str, str, str]], say: Say
) -> None:
    """Run the shop until it is stopped by SIGINT, SIGTERM or SIGHUP.

    With `prepare` the tables, the demo shop and the static files are brought up to date first. `logins` (who, e-mail, password)
    are printed when a demo shop is open. Raises RunError or NodeError if a part does not start or ends repeatedly.
    """
    # SIGINT needs a handler, too: a process that a script starts in the background ignores it by default.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    for folder in ("runs", "logs"):
        (RUN_FOLDER / folder).mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
        # This context is entered first, so it is left last: a second Ctrl-C must not interrupt the cleanup.
        listener, run = _open_port(stack, port, development, say)
        files = None
        if prepare and not development:
            # The node starts meanwhile.
            files = stack.enter_context(ThreadPoolExecutor(1)).submit(_collect_static_files, run)
        if not os.environ.get("CASSANDRA_HOSTS"):
            cluster = stack.enter_context(control.borrow_cluster(say=say))
            run.environment["CASSANDRA_LOCAL_NODE"] = cluster.endpoint
        stack.callback(run.close)
        stack.callback(_ignore_signals, say)
        if prepare:
            take_keyspace(run)
            prepare_tables(run)
        if files:
            files.result()
        _launch_all(run, listener)
        run.wait_until_open()
        say(welcome_text(run, logins if run.is_demo else ()))
        if prepare and run.is_demo and mark.OLDER not in run.filled:
            _launch_older_orders(run)
        while True:
            time.sleep(0.5)
            run.forget_ended_errands()
            run.restart_ended_parts()


def stop_runs(say: Say) -> int:
    """End every run of this checkout with all its processes. Return the number of runs."""
    count = 0
    for path in sorted((RUN_FOLDER / "runs").glob("*.json")):
        record = json.loads(path.read_text(encoding="utf-8"))
        run, parts = [int(path.stem)], list(record["parts"].values())
        # A run ends its parts itself. Afterwards the parts are ended that a killed run has left behind.
        found = sum(
            _end(pids, timeout)
            for pids, timeout in (
                (run, CLOSE_SECONDS + control.STOP_SECONDS),
                (parts, CLOSE_SECONDS),
            )
        )
        if found:
            say(f"Stopped the run on port {record['port']}")
            count += 1
        path.unlink(missing_ok=True)
    return count


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group of a part, with child processes such as the reloader's."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _end(pids: Sequence[int], timeout: float) -> int:
    found = [process for process in map(_find_own_process, pids) if process is not None]
    for process in found:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.terminate()
    _, left = psutil.wait_procs(found, timeout=timeout)
    for process in left:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    return len(found)


def _find_own_process(pid: int) -> psutil.Process | None:
    try:
        process = psutil.Process(pid)
        return (
            process if process.cwd() == str(ROOT) and "python" in process.name().lower() else None
        )
    except psutil.Error:
        return None


def _open_port(
    stack: contextlib.ExitStack, port: int, development: bool, say: Say
) -> tuple[socket.socket, ShopRun]:
    """Take the shop's port and keep it, so that a second run finds it taken. Return the open socket and the new run."""
    free = machine.find_free_port(port, ["127.0.0.1"])
    if free != port:
        say(f"Port {port} is taken; this run serves on {free}")
    listener = stack.enter_context(socket.create_server(("127.0.0.1", free), backlog=512))
    return listener, ShopRun(free, development, say, make_environment(free, development))


def make_environment(port: int, development: bool) -> dict[str, str]:
    environment = os.environ | {"DEBUG": str(development).lower(), "PYTHONUNBUFFERED": "1"}
    environment.setdefault("STOA_DEMO", "true")
    environment.setdefault("PUBLIC_URL", f"http://127.0.0.1:{port}")
    if not _is_true(environment["STOA_DEMO"]):
        return (
            {**EMPTY_SHOP, **environment} if _is_local(environment["PUBLIC_URL"]) else environment
        )
    if "EMAIL_URL" not in os.environ:
        environment["EMAIL_URL"] = (
            f"smtp://127.0.0.1:{machine.find_free_port(port + 25, ['127.0.0.1'])}"
        )
    return environment


def _is_local(url: str) -> bool:
    return urlsplit(url).hostname in ("127.0.0.1", "localhost", "::1")


def _is_true(text: str) -> bool:
    return text.lower() in Env.BOOLEAN_TRUE_STRINGS


def take_keyspace(run: ShopRun) -> None:
    before = settings.DATABASES["default"]["NAME"]
    chosen, *run.filled = run.run_command("Looking at the tables", "choose_keyspace").split()
    if chosen != before:
        run.say(
            f"The keyspace {before} has tables of another version of this shop, which cannot be changed in place.\n"
            f"The shop uses {chosen}; {before} stays as it is. Other commands follow with CASSANDRA_KEYSPACE={chosen} in .env."
        )
    run.environment["CASSANDRA_KEYSPACE"] = chosen


def _collect_static_files(run: ShopRun) -> None:
    run.run_command(
        "Collecting the static files", "collectstatic", "--no-input", "--verbosity", "0"
    )


def prepare_tables(run: ShopRun) -> None:
    """Bring the tables and the demo shop up to date, unless they are. Raises RunError."""
    if mark.FILLED in run.filled:
        run.say("The demo shop was filled today")
        return
    run.run_command("Bringing the tables up to date", "migrate")
    if run.is_demo:
        run.run_command(
            "Filling the demo shop", "load_demo", "--newest", NEWEST_ORDERS, quiet=False
        )


def _launch_older_orders(run: ShopRun) -> None:
    """Start loading the demo shop's older orders while it is open. Orders that exist are skipped."""
    command = ("nice", sys.executable, "manage.py", "load_demo", "--older-than", NEWEST_ORDERS)
    run.launch_part("orders", command, is_errand=True)


def _launch_all(run: ShopRun, listener: socket.socket) -> None:
    python = sys.executable
    if run.is_demo and "EMAIL_URL" not in os.environ:
        mail_port = run.environment["EMAIL_URL"].rsplit(":", 1)[1]
        run.launch_part("mail", [python, "manage.py", "mailcatcher", "--port", mail_port])
    run.launch_part("worker", [python, "manage.py", "worker"])
    if run.is_development:
        # The autoreloading server opens the port itself, at each reload.
        listener.close()
        run.launch_part("web", [python, "manage.py", "runserver", f"127.0.0.1:{run.port}"])
    else:
        descriptor = listener.fileno()
        command = [
            python,
            "-m",
            "gunicorn",
            "-c",
            "gunicorn.conf.py",
            "-b",
            f"fd://{descriptor}",
            "storefront.wsgi",
        ]
        run.launch_part("web", command, keep_open=(descriptor,))


def welcome_text(run: ShopRun, logins: Sequence[tuple[str, str, str]]) -> str:
    rows = [("Shop", run.address), ("Staff", f"{run.address}staff/")]
    if run.is_demo:
        rows.append(("Mail", f"{run.address}demo/mail/"))
    elif "EMAIL_URL" not in os.environ:
        rows.append(("Mail", f"files in {MAIL_FOLDER.relative_to(ROOT)}"))
    lines = ["", "The shop is open.", ""]
    lines += [f"  {name:<8} {value}" for name, value in rows]
    lines += ["", "Demo logins:"] if logins else []
    lines += [f"  {who:<8} {email}   password  {password}" for who, email, password in logins]
    lines += (
        ["  Staff and admin are asked for a code next: in a demo shop the page shows it."]
        if logins
        else []
    )
    if not run.is_demo:
        chosen = " ".join(
            f"{name}={run.environment[name]}"
            for name in ("CASSANDRA_KEYSPACE", "PUBLIC_URL")
            if name in run.environment
        )
        lines += [
            "",
            "A new shop is empty: docs/first-day.md leads from here to the first order. Its first admin:",
            f"  STOA_DEMO=0 {chosen} \\",
            "    .venv/bin/python manage.py staff add you@example.com --role admin --link",
        ]
    lines += [
        "",
        "Ctrl-C closes the shop."
        + ("" if run.is_development else f" Logs are in {RUN_FOLDER.relative_to(ROOT)}/logs."),
    ]
    return "\n".join([*lines, ""])


def _ignore_signals(say: Say) -> None:
    say("\nClosing the shop")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def record_path(pid: int) -> Path:
    return RUN_FOLDER / "runs" / f"{pid}.json"


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:  # noqa: S310 -- our own address
            return bool(answer.status == 200)
    except (OSError, urllib.error.HTTPError):
        return False


def _tail(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines()[-_LOG_LINES:])
