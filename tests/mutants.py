"""Proof that the suite finds faults: each in `tests/faults/` is put back into a copy of the tree, and its tests are to fail.

    python -m tests.mutants                  # all of them; 1 if the suite lets one pass, 2 if one's text is not there any more
    python -m tests.mutants -j 2 cart mail   # those with one of these words in their name or file, two at once

Found is a fault by which a test fails that passes without it: at the end all tests that have found one are run on the right
tree, in the same keyspace. Each tree has a keyspace that its runs share, since making the tables takes longer than most tests;
a fault that is let pass there is tried again in a new one. A fault that does not import, that no test is reached by, or that takes too long proves nothing: it is called broken, and
counts as one that was let pass.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue

from tests.faults import FAULTS, Fault

ROOT = Path(__file__).resolve().parent.parent
# So long one run of pytest may take, in seconds; on two quiet cores few take more than twenty.
PATIENCE = 600
# What pytest says of a test that failed: which, and why. One whose setup failed is an ERROR, and finds nothing.
_FAILED = re.compile(r"^FAILED (.+?)(?: - (.*))?$", re.MULTILINE)
_NOT_PASSED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# A fault that is no program is none that could have been shipped.
_NO_PROGRAM = (
    "NameError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
    "UnboundLocalError",
)


@dataclass(frozen=True)
class Result:
    """What came of a fault: the test that found it, and how that failed; or no test, and what is wrong."""

    fault: Fault
    test: str
    reason: str
    tree: Path
    seconds: float = 0

    def __str__(self) -> str:
        line = f"{self.seconds:5.1f} s  {self.fault.name}: {self.test or self.reason}"
        return f"found  {line}\n{'':16}{self.reason[:200]}" if self.test else f"NOT FOUND  {line}"


def list_stale_faults(faults: Iterable[Fault], root: Path = ROOT) -> list[str]:
    """Return in words which faults cannot be put back as they are written: their code has moved, or their tests have."""
    return [
        f"{fault.name} ({fault.file}): {why}"
        for fault in faults
        if (why := _stale_reason(fault, root))
    ]


def _stale_reason(fault: Fault, root: Path) -> str:
    file = root / fault.file
    if not file.exists():
        return "there is no such file any more"
    count = file.read_text().count(fault.old)
    if count != 1:
        return f"its text stands {count} times in the file, and is to stand there once"
    if fault.old == fault.new:
        return "it changes nothing"
    gone = [each for each in fault.tests if not (root / each).exists()]
    return f"its tests are not there any more: {', '.join(gone)}" if gone or not fault.tests else ""


def copy_tree(to: Path) -> Path:
    """Copy the tree as it is now, without what git ignores, and link what the tests need beside it."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():  # or it was deleted, and git does not know yet
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (ROOT / ".run" / "tools").mkdir(parents=True, exist_ok=True)
    (to / ".run").mkdir()
    for lent in (".venv", ".run/tools"):
        (to / lent).symlink_to(ROOT / lent)
    return to


def try_fault(fault: Fault, tree: Path, node: dict[str, str]) -> Result:
    """Put a fault into a tree, run its tests, and take it out again."""
    file, began = tree / fault.file, time.monotonic()
    text = file.read_text()
    file.write_text(text.replace(fault.old, fault.new))
    kept = {"TEST_KEYSPACE": keyspace_of(tree), "KEEP_KEYSPACE": "true"}
    try:
        for environment in (node | kept, node):
            status, output = _run_pytest(["-x", *fault.tests], tree, environment)
            if status != 0:
                break
    finally:
        file.write_text(text)
    test, reason = _judge(status, output)
    return Result(fault, test, reason, tree, time.monotonic() - began)


def keyspace_of(tree: Path) -> str:
    """Return the name of the keyspace that all runs in a tree share."""
    return re.sub(r"\W", "_", f"stoa_{tree.parent.name}_{tree.name}".lower())


def _run_pytest(what: Sequence[str], tree: Path, node: dict[str, str]) -> tuple[int | None, str]:
    """Run pytest and return its status and its output; None when it took too long."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--no-header",
        "--tb=short",
        "-m",
        "not proof",
        "-p",
        "no:randomly",
    ]
    with subprocess.Popen(
        [*command, *what],
        cwd=tree,
        env=os.environ | node | {"COLUMNS": "240"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            # As by Ctrl-C, so that it drops its keyspace and ends what it has started.
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=60)
            process.kill()
            return None, f"more than {PATIENCE} s"
    return process.returncode, output


def _judge(status: int | None, output: str) -> tuple[str, str]:
    """Return the test that found a fault, and how it failed; or '', and what is wrong."""
    if status == 0:
        return "", "LET PASS"
    failed = _FAILED.search(output)
    if status != 1 or failed is None:
        return (
            "",
            f"BROKEN, no test failed, and pytest ended with status {status}:\n{output[-2000:]}",
        )
    test, why = failed[1], failed[2] or ""
    if why.startswith(_NO_PROGRAM):
        return "", f"BROKEN, it is no program: {test}: {why}"
    return test, why


def confirm_results(results: Sequence[Result], tree: Path, node: dict[str, str]) -> list[Result]:
    """Run the tests that have found faults in a tree once more, without any fault: one that does not pass has found nothing.

    Then the tree's keyspace is dropped.
    """
    # A run in which nothing was found has to drop the keyspace, too: any test does it.
    tests = sorted({each.test for each in results if each.test}) or [
        "tests/architecture/test_mutants.py"
    ]
    status, output = _run_pytest(tests, tree, node | {"TEST_KEYSPACE": keyspace_of(tree)})
    if status == 0:
        return list(results)
    wrong = set(_NOT_PASSED.findall(output)) if status == 1 else set(tests)
    reason = (
        f"BROKEN, its test does not pass without it, either (status {status}):\n{output[-2000:]}"
    )
    return [
        replace(each, test="", reason=reason) if each.test in wrong else each for each in results
    ]


@contextlib.contextmanager
def borrow_node() -> Iterator[dict[str, str]]:
    """Yield the environment that points each run of pytest to its Cassandra: that of the environment, or this checkout's own, started once."""
    if os.environ.get("CASSANDRA_HOSTS"):
        yield {}
        return
    # as tests.environment has it
    os.environ.setdefault("JVM_EXTRA_OPTS", "-XX:TieredStopAtLevel=1")
    from devtools.node import control

    with control.borrow_cluster(hasty=True) as cluster:
        yield {"CASSANDRA_HOSTS": ",".join(cluster.hosts), "CASSANDRA_PORT": str(cluster.cql_port)}


def try_faults(faults: Sequence[Fault], at_once: int) -> list[Result]:
    """Try faults, so many at once, each in a tree of its own; print what comes of each as it comes."""
    free: SimpleQueue[Path] = SimpleQueue()

    def one(fault: Fault) -> Result:
        tree = free.get()
        try:
            result = try_fault(fault, tree, node)
        finally:
            free.put(tree)
        print(result, flush=True)
        return result

    with tempfile.TemporaryDirectory(prefix="mutants-") as folder, borrow_node() as node:
        trees = [copy_tree(Path(folder) / str(number)) for number in range(at_once)]
        for tree in trees:
            free.put(tree)
        with ThreadPoolExecutor(at_once) as crew:
            results = list(crew.map(one, faults))
            confirmed = crew.map(
                lambda tree: confirm_results(
                    [each for each in results if each.tree == tree], tree, node
                ),
                trees,
            )
            return [each for found in confirmed for each in found]


def main() -> int:
    """Try the faults that were asked for and return the process's status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutants", description="Puts faults back and has the suite find them."
    )
    parser.add_argument(
        "words", nargs="*", help="try those with one of these in their name or file; without, all"
    )
    parser.add_argument(
        "-j", type=int, default=1, dest="at_once", help="so many at once, each in a tree of its own"
    )
    args = parser.parse_args()
    if gone := list_stale_faults(FAULTS):
        print(
            "These faults say nothing any more; move them with their code:",
            *gone,
            sep="\n  ",
            file=sys.stderr,
        )
        return 2
    chosen = [
        fault
        for fault in FAULTS
        if not args.words
        or any(word.casefold() in f"{fault.name} {fault.file}".casefold() for word in args.words)
    ]
    began = time.monotonic()
    results = try_faults(chosen, args.at_once)
    missed = [each for each in results if not each.test]
    if missed:
        print("\nNot found:", *missed, sep="\n  ")
    print(
        f"\n{len(results) - len(missed)} of {len(results)} found, in {(time.monotonic() - began) / 60:.1f} minutes"
    )
    return 1 if missed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
