"""Fetches the jars of Cassandra and other programs with a Maven client, and verifies their checksums.

A lock file has the jars' coordinates and SHA-256 checksums. The Maven client (`jgo`) knows the repositories, unless its
configuration file names a mirror. All checkouts of a user share the jars.
"""

import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

import requests
from jgo.config import GlobalSettings
from jgo.maven import MavenContext

from devtools.node.errors import JarsMissing, NodeError, WrongChecksum

LOCK = Path(__file__).with_name("cassandra-jars.lock")
CASSANDRA = "org.apache.cassandra:cassandra-all:5.0.9"
VERSION = CASSANDRA.rsplit(":", 1)[1]

_LINE = re.compile(
    r"(?P<coordinates>[\w.-]+:[\w.-]+:[\w.-]+(?::[\w.-]+)?) sha256:(?P<sha256>[0-9a-f]{64})"
)
_WORKERS = 8
MAX_ATTEMPTS = 3
PAUSE_SECONDS = 2.0

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Jar:
    """A jar in the lock file: its coordinates `group:artifact:version[:classifier]`, and its SHA-256 checksum."""

    coordinates: str
    sha256: str

    @property
    def path(self) -> Path:
        """The jar's path below the folder of jars, which has the layout of a Maven repository."""
        group, artifact, version, *classifier = self.coordinates.split(":")
        name = "-".join([artifact, version, *classifier])
        return Path(*group.split("."), artifact, version, f"{name}.jar")


Download = Callable[[Jar, Path], Path]


def read_lock_file(path: Path = LOCK) -> list[Jar]:
    """Return the jars of a lock file in class path order. Raises NodeError for an invalid line."""
    jars = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _LINE.fullmatch(line.strip())
        if not match:
            raise NodeError(
                f"{path.name}, line {number}: expected `group:artifact:version sha256:…`"
            )
        jars.append(Jar(match["coordinates"], match["sha256"]))
    return jars


def default_store() -> Path:
    """Return the folder that keeps the jars: $CASSANDRA_JARS, else one in the user's cache."""
    if chosen := os.environ.get("CASSANDRA_JARS"):
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "stoa" / "jars"


def list_missing_jars(jars: Sequence[Jar], store: Path) -> list[Jar]:
    """Return the jars that are missing in the store, or have a wrong checksum there."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        right = pool.map(lambda jar: file_checksum(store / jar.path) == jar.sha256, jars)
    return [jar for jar, is_right in zip(jars, right, strict=True) if not is_right]


def file_checksum(path: Path) -> str | None:
    """Return a file's SHA-256 checksum in hexadecimal digits, or None if there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def fetch_jars(
    jars: Sequence[Jar], store: Path, say: Say = print, download: Download | None = None
) -> list[Path]:
    """Fetch the jars that the store lacks. Return the paths of all jars, in the order of `jars`.

    Eight jars are fetched at a time, with three attempts each. Raises WrongChecksum for a jar with another checksum. Also raises
    JarsMissing for a jar that cannot be fetched.
    """
    absent = list_missing_jars(jars, store)
    if absent:
        name = jars[0].coordinates.split(":")[1]
        say(f"Fetching {len(absent)} of the {len(jars)} jars of {name}, kept in {store}")
        store.mkdir(parents=True, exist_ok=True)
        _fetch_all(absent, store, say, download or _download)
    return [store / jar.path for jar in jars]


def _fetch_all(jars: Sequence[Jar], store: Path, say: Say, download: Download) -> None:
    give_up = threading.Event()
    with ThreadPoolExecutor(_WORKERS) as pool:
        tasks = [pool.submit(_fetch_one, jar, store, download, give_up) for jar in jars]
        try:
            for done, task in enumerate(as_completed(tasks), start=1):
                task.result()
                if done % 25 == 0 or done == len(jars):
                    say(f"  {done} of {len(jars)}")
        except BaseException:
            give_up.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise


def _fetch_one(jar: Jar, store: Path, download: Download, give_up: threading.Event) -> None:
    failure: Exception | None = None
    for attempt in range(MAX_ATTEMPTS):
        if give_up.wait(PAUSE_SECONDS * attempt):
            return
        # Each attempt has its own folder: another checkout may fetch the same jar, and half a file must never be in the store.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=store) as folder:
            try:
                arrived = download(jar, Path(folder))
            except (requests.RequestException, RuntimeError, OSError) as error:
                failure = error
                continue
            if file_checksum(arrived) == jar.sha256:
                target = store / jar.path
                target.parent.mkdir(parents=True, exist_ok=True)
                arrived.replace(target)
                return
            failure = WrongChecksum(
                f"{jar.coordinates} arrived with SHA-256 {file_checksum(arrived)}, the lock file says {jar.sha256}. "
                "It was thrown away. If a mirror or proxy stands in between, ask it why."
            )
    if isinstance(failure, WrongChecksum):
        raise failure
    if isinstance(failure, requests.ConnectionError | requests.Timeout):
        raise JarsMissing(
            f"{jar.coordinates} is not here, and no Maven repository answers: this machine seems to be offline.\n"
            f"Go online once and run the same command again, or copy {store} from a machine that has it."
        ) from failure
    raise JarsMissing(f"{jar.coordinates} could not be fetched: {failure}") from failure


def _download(jar: Jar, folder: Path) -> Path:
    return _context(folder).create_dependency(jar.coordinates).artifact.resolve()


def _context(folder: Path) -> MavenContext:
    mirrors = GlobalSettings.load().repositories
    return MavenContext(repo_cache=folder, remote_repos=mirrors or None, timeout=60)


def write_lock_file(
    wanted: str = CASSANDRA,
    path: Path = LOCK,
    command: str = "manage.py cassandra lock",
    say: Say = print,
) -> int:
    """Write the lock file of the jars that `wanted` (coordinates) needs. Return their number. The file names `command`.

    Use it for upgrades only, and review the file before you commit it.
    """
    lines = []
    with tempfile.TemporaryDirectory(prefix=".lock-") as folder:
        context = _context(Path(folder))
        say(f"Resolving {wanted}")
        roots, transitive = context.resolver.resolve([context.create_dependency(wanted)])
        needed = [it for it in (*roots, *transitive) if it.scope != "test" and not it.optional]
        for done, dependency in enumerate(needed, start=1):
            artifact = dependency.artifact
            jar = ":".join(
                filter(
                    None,
                    [artifact.groupId, artifact.artifactId, artifact.version, artifact.classifier],
                )
            )
            lines.append(f"{jar} sha256:{file_checksum(artifact.resolve())}\n")
            if done % 25 == 0:
                say(f"  {done} of {len(needed)}")
    header = (
        f"# {wanted} and all it needs to run, in class path order.\n"
        f"# Written by `{command}`; a jar with another checksum is refused.\n"
    )
    path.write_text(header + "".join(lines), encoding="utf-8")
    return len(lines)
