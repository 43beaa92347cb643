"""Finds faults of this machine and of the shop's configuration, each with the command that fixes it.

Checks change nothing. The checks of the database come last, and are left out if no database answers.
"""

import os
import re
import shutil
import smtplib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from uuid import uuid4

from cassandra.cluster import Session
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from cassandra_db.errors import CassandraUnavailable
from cassandra_db.partitions import list_models
from cassandra_db.session import ALIAS, get_session
from catalogue.operations.picture_uploads import INCOMING
from devtools.chromium import find_chromium
from devtools.keyspaces import is_outdated
from devtools.node import NodeError, control, jars, machine, state
from devtools.node.java import find_java
from jobs.schema import list_pending_steps
from web import proxies

GOOD, ADVICE, WRONG = "good", "advice", "wrong"

_ENOUGH_MEMORY_MB = 1700
_ENOUGH_DISK_MB = 2048
_KEY_LENGTH = 50
_LOOPBACK = ("127.", "localhost", "::1")


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check. `fix` is the command or setting that mends the fault; "" if there is no fault."""

    level: str
    text: str
    fix: str = ""


def run_checks() -> Iterator[Finding]:
    """Yield the findings about the machine and the configuration, then about the Cassandra cluster if it answers."""
    own_node = not os.environ.get("CASSANDRA_HOSTS")
    yield from _machine()
    if own_node:
        yield from _local_node()
    yield from check_configuration()
    yield from _mail()
    yield check_media()
    try:
        connected = get_session()
    except CassandraUnavailable:
        yield _unreachable(own_node)
        return
    for check in (_versions, _paxos, _authentication, _replication, _schema):
        yield from check(connected)


def _machine() -> Iterator[Finding]:
    yield Finding(GOOD, f"The shop has version {settings.VERSION}")
    python = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info >= (3, 11):  # noqa: UP036 -- a user of an older one shall see it
        yield Finding(GOOD, f"Python {python}")
    else:
        yield Finding(
            WRONG, f"Python {python} is too old, 3.11 is needed", "make clean run PYTHON=python3.11"
        )
    yield _packages(state.PROJECT_ROOT / "requirements.txt")
    yield _browser()


def _packages(lock: Path) -> Finding:
    wrong = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        if match := re.match(r"([\w.-]+)==(\S+)( ; )?", line):
            name, version, conditional = match.groups()
            try:
                installed = metadata.version(name)
            except metadata.PackageNotFoundError:
                installed = None
            if installed != version and not (installed is None and conditional):
                wrong.append(f"{name} {installed or 'missing'} instead of {version}")
    if not wrong:
        return Finding(GOOD, "The installed packages are those of requirements.txt")
    return Finding(
        ADVICE,
        f"Other packages than requirements.txt names: {', '.join(wrong[:5])}{' …' if len(wrong) > 5 else ''}",
        f"{sys.executable} -m pip install --require-hashes -r requirements.txt",
    )


def _browser() -> Finding:
    found = find_chromium()
    if found and Path(found).exists():
        return Finding(GOOD, f"A browser for the tests: {found}")
    return Finding(
        ADVICE,
        "No Chromium: the browser tests will be skipped",
        "apt install chromium-headless-shell, or CHROMIUM=/path/to/it",
    )


def _local_node() -> Iterator[Finding]:
    try:
        java = find_java()
        yield Finding(GOOD, f"Java {java.version} from {java.source}: {java.path}")
    except NodeError as error:
        yield Finding(
            WRONG,
            str(error).splitlines()[0],
            "apt install openjdk-17-jre-headless, or set JAVA_HOME",
        )
    locked = jars.read_lock_file()
    absent = len(jars.list_missing_jars(locked, jars.default_store()))
    if absent:
        yield Finding(
            ADVICE,
            f"{absent} of Cassandra's {len(locked)} jars are not here yet",
            "python manage.py cassandra fetch",
        )
    else:
        yield Finding(GOOD, f"All {len(locked)} jars of Cassandra {jars.VERSION}, checksums right")
    nodes = control.list_node_statuses()
    if any(node.condition == "up" for node in nodes):
        yield Finding(GOOD, "This checkout's Cassandra is up")
        return
    yield _memory()
    yield _disk()
    for port, what in (
        (control.CQL_PORT, "CQL"),
        (control.STORAGE_PORT, "storage"),
        (control.JMX_PORT, "JMX"),
    ):
        if not machine.is_port_free("127.0.0.1", port):
            yield Finding(ADVICE, f"Port {port} ({what}) is taken; the next free one will be used")


def _memory() -> Finding:
    free = machine.available_memory_mb()
    text = f"{free} MiB of memory available"
    if free >= _ENOUGH_MEMORY_MB:
        return Finding(GOOD, text)
    return Finding(
        ADVICE,
        f"{text}; a node with its usual heap wants {_ENOUGH_MEMORY_MB}",
        "CASSANDRA_HEAP_MB=512, or close something",
    )


def _disk() -> Finding:
    free = shutil.disk_usage(state.PROJECT_ROOT).free // machine.MEBIBYTE
    text = f"{free} MiB of disk free"
    if free >= _ENOUGH_DISK_MB:
        return Finding(GOOD, text)
    return Finding(
        WRONG, f"{text}; the node's commit log and data want {_ENOUGH_DISK_MB}", "free some space"
    )


def check_configuration() -> Iterator[Finding]:
    try:
        key = settings.SECRET_KEY
    except ImproperlyConfigured:  # Django raises it for an empty key
        key = ""
    generate = (
        "SECRET_KEY=$(python -c 'import secrets; print(secrets.token_urlsafe(50))'), or `make .env`"
    )
    if not key:
        yield Finding(WRONG, "SECRET_KEY is not set", generate)
    elif len(key) < _KEY_LENGTH and not settings.DEBUG:
        yield Finding(WRONG, f"SECRET_KEY is shorter than {_KEY_LENGTH} characters", generate)
    else:
        yield Finding(GOOD, "SECRET_KEY is set")
    local = settings.PUBLIC_URL.split("://")[-1].startswith(_LOOPBACK)
    if settings.DEBUG and not local:
        yield Finding(WRONG, f"DEBUG is on for {settings.PUBLIC_URL}", "DEBUG=false")
    if "*" in settings.ALLOWED_HOSTS and not settings.DEBUG:
        yield Finding(WRONG, "ALLOWED_HOSTS accepts any host name", "ALLOWED_HOSTS=shop.example")
    if settings.DEMO and not local:
        yield Finding(
            WRONG, f"The demo logins are open at {settings.PUBLIC_URL}", "STOA_DEMO=false"
        )
    if settings.HTTPS and not settings.PUBLIC_URL.startswith("https://"):
        yield Finding(
            WRONG,
            f"Served by HTTPS, but mailed links would begin with {settings.PUBLIC_URL}",
            "PUBLIC_URL=https://…",
        )
    yield from _proxy()
    if settings.PAYMENT_GATEWAY in ("", "none"):
        level = ADVICE if settings.PAYMENT_GATEWAY else WRONG
        yield Finding(
            level,
            "No payment gateway: nothing can be ordered here",
            "PAYMENT_GATEWAY=…, or none on purpose",
        )
    elif settings.PAYMENT_GATEWAY == "testbank" and not (settings.DEMO or settings.DEBUG):
        yield Finding(
            WRONG, "The test bank takes no money, and only a demo shop uses it", "PAYMENT_GATEWAY=…"
        )
    host = settings.PUBLIC_URL.split("://")[-1].split("/")[0].split(":")[0]
    if not _is_allowed(host):
        yield Finding(
            WRONG, f"ALLOWED_HOSTS refuses {host}, the host of PUBLIC_URL", f"ALLOWED_HOSTS={host}"
        )


def _proxy() -> Iterator[Finding]:
    if settings.BEHIND_PROXY:
        return
    fix = "BEHIND_PROXY=true, with a proxy that sets X-Forwarded-Proto and X-Forwarded-For"
    if settings.PUBLIC_URL.startswith("https://"):
        yield Finding(
            WRONG,
            f"{settings.PUBLIC_URL} needs a proxy, which the shop does not know of: all visitors would share one network's limits",
            fix,
        )
    elif proxies.MARKER.exists():
        yield Finding(
            ADVICE,
            "A proxy on this host has sent X-Forwarded-For, which the shop does not read: all its visitors share one network's limits",
            f"{fix}; or, if it was none, rm {proxies.MARKER.relative_to(state.PROJECT_ROOT)}",
        )


def _is_allowed(host: str) -> bool:
    return any(
        host == name or name == "*" or (name.startswith(".") and host.endswith(name))
        for name in settings.ALLOWED_HOSTS
    )


def _mail() -> Iterator[Finding]:
    if not settings.EMAIL_BACKEND.endswith("smtp.EmailBackend"):
        yield Finding(
            ADVICE,
            f"Mail goes to {settings.EMAIL_BACKEND}, not to anybody",
            "EMAIL_URL=smtp+tls://user:password@host:587",
        )
        return
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    connect: Callable[..., smtplib.SMTP] = (
        smtplib.SMTP_SSL if settings.EMAIL_USE_SSL else smtplib.SMTP
    )
    try:
        with connect(settings.EMAIL_HOST, settings.EMAIL_PORT, timeout=5) as connection:
            connection.noop()
    except (OSError, smtplib.SMTPException) as error:
        is_local = settings.EMAIL_HOST.startswith(_LOOPBACK)
        fix = (
            "`make run` starts a mail catcher"
            if is_local
            else "EMAIL_URL=smtp+tls://user:password@host:587"
        )
        yield Finding(ADVICE if is_local else WRONG, f"No mail server at {server}: {error}", fix)
    else:
        yield Finding(GOOD, f"A mail server answers at {server}")


def check_media() -> Finding:
    """Return a finding about the storage of uploads, after writing and reading a file. Web and worker hosts must share it."""
    where = settings.S3_BUCKET or settings.MEDIA_ROOT
    name = f"{INCOMING}/doctor-{uuid4().hex}"
    try:
        default_storage.save(name, ContentFile(b"doctor"))
        with default_storage.open(name) as file:
            is_same = file.read() == b"doctor"
        default_storage.delete(name)
    except Exception as error:  # noqa: BLE001 -- each storage raises its own errors
        found = f"{type(error).__name__}: {error}"
    else:
        if is_same:
            # A check on one host cannot see whether the other hosts use the same folder.
            others = "" if settings.S3_BUCKET else ", which must be the same one on every host"
            return Finding(GOOD, f"Pictures can be kept in {where}{others}")
        found = "what was written is read otherwise"
    return Finding(
        WRONG,
        f"Pictures cannot be kept in {where}: {found}",
        "MEDIA_ROOT=… must name a folder that web and worker share and may write; or S3_BUCKET, S3_ENDPOINT, S3_ACCESS_KEY and S3_SECRET_KEY",
    )


def _unreachable(own_node: bool) -> Finding:
    database = settings.DATABASES[ALIAS]
    where = f"{database['HOST']} port {database['OPTIONS']['connection']['port']}"
    if own_node:
        return Finding(
            WRONG,
            f"No Cassandra answers on {where}",
            "`make run`, or python manage.py cassandra start",
        )
    return Finding(
        WRONG,
        f"No Cassandra answers on {where}",
        "CASSANDRA_HOSTS, _PORT, _LOCAL_DC, _USERNAME and _PASSWORD must name a cluster that this machine reaches",
    )


def _setting(connected: Session, name: str) -> dict[str, str]:
    """Return a setting of each Cassandra node, keyed by address. Each node is asked, since it knows only its own setting."""
    answers = {}
    for host in connected.cluster.metadata.all_hosts():
        if host.is_up:
            query = "SELECT value FROM system_views.settings WHERE name = %s"
            row = connected.execute(query, (name,), host=host, timeout=10).one()
            answers[host.address] = row["value"] if row else ""
    return answers


def _versions(connected: Session) -> Iterator[Finding]:
    hosts = connected.cluster.metadata.all_hosts()
    down = [host.address for host in hosts if host.is_up is False]
    versions = sorted({host.release_version for host in hosts if host.release_version})
    yield Finding(
        GOOD,
        f"{len(hosts)} Cassandra node{'s' if len(hosts) > 1 else ''}, version {', '.join(versions)}",
    )
    if any(int(version.split(".")[0]) < 5 for version in versions):
        yield Finding(
            WRONG,
            "The shop needs Cassandra 5.0: its stock is counted by conditional arithmetic",
            "upgrade the cluster",
        )
    if len(versions) > 1:
        yield Finding(
            ADVICE,
            "The nodes run different versions",
            "finish the upgrade before the next schema change",
        )
    if down:
        yield Finding(WRONG, f"Nodes are down: {', '.join(down)}", "look at their system.log")


def _paxos(connected: Session) -> Iterator[Finding]:
    old = [
        address
        for address, value in _setting(connected, "paxos_variant").items()
        if not value.startswith("v2")
    ]
    if old:
        yield Finding(
            ADVICE,
            f"Paxos v1 on {', '.join(old)}: twice the round trips of v2",
            "paxos_variant: v2 in cassandra.yaml",
        )
    else:
        yield Finding(GOOD, "Paxos v2 everywhere")


def _authentication(connected: Session) -> Iterator[Finding]:
    database = settings.DATABASES[ALIAS]
    if database["USER"] == "cassandra":
        yield Finding(
            WRONG,
            "The shop logs in as the superuser `cassandra`",
            "a role of its own in CASSANDRA_USERNAME, _PASSWORD",
        )
    exposed = [
        host.address
        for host in connected.cluster.metadata.all_hosts()
        if not host.address.startswith("127.")
    ]
    if exposed and not database["USER"]:
        yield Finding(
            ADVICE if settings.DEBUG or settings.DEMO else WRONG,
            f"Anybody who reaches {', '.join(exposed)} may read and write all of the shop",
            "authenticator: PasswordAuthenticator and authorizer: CassandraAuthorizer in cassandra.yaml",
        )


def _replication(connected: Session) -> Iterator[Finding]:
    cluster = connected.cluster.metadata
    name = settings.DATABASES[ALIAS]["NAME"]
    keyspace = cluster.keyspaces.get(name)
    if keyspace is None:
        yield Finding(WRONG, f"There is no keyspace {name}", "python manage.py migrate")
        return
    centres: dict[str, int] = {}
    for host in cluster.all_hosts():
        centres[host.datacenter] = centres.get(host.datacenter, 0) + 1
    factors = check_factors(keyspace.replication_strategy.export_for_schema(), centres)
    copies = ", ".join(
        f"{centre}: {factor} of {centres.get(centre, 0)} nodes"
        for centre, factor in factors.items()
    )
    yield Finding(GOOD, f"Keyspace {name} is kept on {copies}")
    alter = f"ALTER KEYSPACE {name} WITH replication = …, then nodetool repair --full {name}"
    for centre, factor in factors.items():
        nodes = centres.get(centre, 0)
        if factor > nodes:
            yield Finding(
                WRONG, f"{factor} copies are asked for in {centre}, which has {nodes} nodes", alter
            )
        elif nodes >= 3 and factor < 3:
            yield Finding(
                ADVICE,
                f"{factor} of {nodes} nodes in {centre} keep a row: one node down stops writes",
                alter,
            )
    if len(factors) > 1:
        names = ", ".join(factors)
        yield Finding(WRONG, f"Two data centres could sell the last unit twice: {names}", alter)


def check_factors(strategy: str, centres: dict[str, int]) -> dict[str, int]:
    pairs = re.findall(r"'([\w.-]+)': '(\d+)'", strategy)
    if any(name == "replication_factor" for name, _ in pairs):
        factor = int(dict(pairs)["replication_factor"])
        return dict.fromkeys(centres, factor)
    return {name: int(factor) for name, factor in pairs}


def _schema(connected: Session) -> Iterator[Finding]:
    keyspace = connected.cluster.metadata.keyspaces.get(settings.DATABASES[ALIAS]["NAME"])
    if keyspace is None:
        return
    if is_outdated(keyspace):
        yield Finding(
            WRONG,
            f"The keyspace {keyspace.name} has tables of another version, which cannot be changed in place",
            "make run fills a new one; or name one in CASSANDRA_KEYSPACE",
        )
        return
    pending = list_pending_steps()
    if pending.missing:
        more = " …" if len(pending.missing) > 6 else ""
        yield Finding(
            WRONG,
            f"The tables lag behind the models: {', '.join(pending.missing[:6])}{more}",
            "python manage.py migrate",
        )
    else:
        yield Finding(GOOD, f"All {len(list_models())} tables are as the models say")
    if pending.backfills or pending.drops:
        yield Finding(
            ADVICE, "The last upgrade has steps left", "python manage.py migrate --plan names them"
        )
