"""How the suite runs on two processes, and what a run costs.

A file is not split, but for those whose tests share nothing and take long, nor is the browser's folder, which shares a served
shop; the long ones come first, so that the two end together. A test marked `alone` has the machine to itself; files that begin
with one come last, since each waits for the test of the other process. Each run ends with the processor time of all its parts.
"""

import fcntl
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

from devtools.node import control, state

# As --durations showed; whatever else takes long comes after these, in the order of the files. A file that would come last belongs
# here if it takes a minute, or the other process has nothing to do meanwhile.
LONG = (
    "tests/browser",
    "tests/journeys/test_sweep.py",
    "tests/orders/test_crashes.py",
    "tests/demo/test_loader.py",
    "tests/web/test_forms.py",
)
# Each test makes what it looks at, and nothing is made for all of them.
SPLIT = ("tests/orders/test_crashes.py", "tests/backups/test_clusters.py")


def scheduling_scope(nodeid: str) -> str:
    """Return what runs in one process: the test's file, the folder that shares a shop, or the test alone."""
    file = nodeid.split("::")[0]
    if file in SPLIT:
        return nodeid
    return "tests/browser" if file.startswith("tests/browser/") else file


class _Scheduler(LoadScopeScheduling):  # type: ignore[misc]
    def _split_scope(self, nodeid: str) -> str:
        return scheduling_scope(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadScopeScheduling:
    """Hand out whole files."""
    config.option.loadscopereorder = False  # by their number of tests
    return _Scheduler(config, log)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the long files first, unless a random order is asked for."""
    if config.pluginmanager.has_plugin("randomly"):
        return
    numbers = {scope: number for number, scope in enumerate(LONG)}

    def place(item: pytest.Item) -> int:
        scope = scheduling_scope(item.nodeid)
        number = numbers.get(scope.split("::")[0], len(LONG))
        return len(LONG) + 1 if item.get_closest_marker("alone") else number

    items.sort(key=place)


# ---- Alone


@pytest.fixture(scope="session")
def _locks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.getbasetemp()
    # Processes have a folder each, in the run's own.
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    return folder / "door", folder / "machine"


@pytest.fixture(autouse=True)
def machine(request: pytest.FixtureRequest, _locks: tuple[Path, Path]) -> Iterator[None]:
    """Share the machine with the other process's tests, or have it alone."""
    wanted = fcntl.LOCK_EX if request.node.get_closest_marker("alone") else fcntl.LOCK_SH
    with _locks[0].open("a") as gate, _locks[1].open("a") as machine_lock:
        # A test that wants it alone waits at the gate, so that the others cannot take turns for ever.
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(machine_lock, wanted)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield


# ---- What it cost


_orphans: dict[tuple[int, float], float] = {}


@contextmanager
def count_browser_time() -> Iterator[None]:
    """Count what Chromium's processes use within the block: no process waits for them, so they are looked at every second."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(1):
            for process in psutil.Process().children(recursive=True):
                with suppress(psutil.Error):
                    # The first of them is waited for; the others are its zygotes, renderers, helpers.
                    if any(word.startswith("--type=") for word in process.cmdline()):
                        _orphans[process.pid, process.create_time()] = sum(process.cpu_times()[:2])

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()


def _own_seconds() -> float:
    """Return the processor time of this process, of the children that it has seen end, and of the browser's."""
    return sum(_orphans.values()) + sum(
        used.ru_utime + used.ru_stime
        for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    )


def _cassandra_seconds() -> dict[int, float]:
    """Return the processor time of each node of this checkout that runs, by its process."""
    home = state.default_home()
    return {
        node.pid: sum(psutil.Process(node.pid).cpu_times()[:2])
        for node in control.list_running_nodes(state.load_cluster(home), home)
    }


class RunCost:
    """The processor time of a run, by its parts."""

    def __init__(self) -> None:
        # A node that was there before has worked for others, too.
        began = psutil.Process().create_time()
        self._before = {
            pid: used
            for pid, used in _cassandra_seconds().items()
            if psutil.Process(pid).create_time() < began
        }
        self._workers = 0.0

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: WorkerController, error: object) -> None:
        """Add what a worker process has used."""
        self._workers += getattr(node, "workeroutput", {}).get("seconds", 0.0)

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print it."""
        used = resource.getrusage(resource.RUSAGE_SELF)
        tests = self._workers + used.ru_utime + used.ru_stime if self._workers else _own_seconds()
        cassandra = sum(
            seconds - self._before.get(pid, 0.0) for pid, seconds in _cassandra_seconds().items()
        )
        terminalreporter.write_sep("=", "processor time")
        terminalreporter.write_line(
            f"{tests + cassandra:.0f} CPU seconds: tests and their children {tests:.0f}, Cassandra {cassandra:.0f}"
        )


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that prints."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(RunCost())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send what this process has used to the one that prints."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["seconds"] = _own_seconds()
