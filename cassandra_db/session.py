"""The only driver session of the process. It is opened under a lock at its first use, and never shared across a fork."""

import atexit
import logging
import threading

from cassandra import DriverException, InvalidRequest, OperationTimedOut, RequestExecutionException
from cassandra.cluster import NoHostAvailable, Session
from cassandra.connection import ConnectionException
from cassandra.cqlengine import connection as cqlengine
from cassandra.io import libevreactor
from django.conf import settings

from cassandra_db.errors import CassandraUnavailable

ALIAS = "default"
# The errors that the driver raises when nodes are away.
DRIVER_ERRORS = (
    NoHostAvailable,
    OperationTimedOut,
    RequestExecutionException,
    ConnectionException,
    DriverException,
)
# How many seconds one node may take to prepare a statement. The driver would wait ten seconds.
PREPARE_SECONDS = 2.0
_lock = threading.Lock()
_session: Session | None = None
log = logging.getLogger(__name__)


def get_session() -> Session:
    """Return the session, and open it if it is not open.

    Raises CassandraUnavailable when no node answers. The next call tries to open it again.
    """
    global _session
    if _session is not None:
        return _session
    with _lock:
        if _session is None:
            _session = _open()
        return _session


def _open() -> Session:
    registered = cqlengine._connections[ALIAS]  # registered by the engine when Django is set up
    try:
        opened = cqlengine.get_session(ALIAS)
        keyspace = settings.DATABASES[ALIAS]["NAME"]
        if keyspace in opened.cluster.metadata.keyspaces:
            opened.set_keyspace(keyspace)
        # The driver uses this timeout to prepare statements, and has no public name for it beside profiles.
        opened._default_timeout = PREPARE_SECONDS
    except Exception as error:
        # cqlengine clears its flag before it connects: any failure but NoHostAvailable would leave the process
        # without a session for ever.
        registered.lazy_connect = True
        if registered.cluster is not None:
            registered.cluster.shutdown()
            registered.cluster = registered.session = None
        level = logging.WARNING if isinstance(error, NoHostAvailable) else logging.ERROR
        log.log(level, "cannot open a session: %s", error)
        raise CassandraUnavailable("no Cassandra node answers") from error
    return opened


def close_session() -> None:
    """Close the session if it is open. The next use opens a new session."""
    global _session
    with _lock:
        if _session is not None:
            registered = cqlengine._connections[ALIAS]
            registered.cluster.shutdown()
            registered.cluster = registered.session = None
            registered.lazy_connect = True
            _session = None


@atexit.register
def _end_event_loop() -> None:
    """Close the session and end the driver's thread. The driver's own exit hook would wait five seconds for this thread."""
    close_session()
    loop = libevreactor._global_loop
    if loop is not None and loop._thread is not None:
        loop._shutdown = True
        loop.notify()
        loop._thread.join(5)


def keyspace_name() -> str:
    """Return the name of the keyspace in the settings."""
    return str(settings.DATABASES[ALIAS]["NAME"])


class TranslatedErrors:
    """A block in which the errors that the driver raises when nodes are away become CassandraUnavailable.

    Every statement has two such blocks. A generator with `contextmanager` would take three times the calls.
    """

    __slots__ = ("_what",)

    def __init__(self, what: object) -> None:
        self._what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _where: object) -> None:
        if error is None:
            return
        if isinstance(error, InvalidRequest):
            if "Keyspace" in str(error) and "does not exist" in str(error):
                raise CassandraUnavailable(f"{error}: run `manage.py migrate`") from error
        elif isinstance(error, DRIVER_ERRORS):
            raise CassandraUnavailable(f"{self._what}: {error}") from error
