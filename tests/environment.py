"""Read before Django's settings (`-p tests.environment`): the shop under test is configured by the environment, as any other.

Without CASSANDRA_HOSTS the suite starts this checkout's own node.
"""

import atexit
import contextlib
import os
import secrets
import shutil
import signal
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A run of several processes has a keyspace for each: the first one starts the others, and its environment is theirs.
WORKER = os.environ.get("PYTEST_XDIST_WORKER")
KEYSPACE = (
    f"{os.environ['CASSANDRA_KEYSPACE']}_{WORKER}"
    if WORKER
    # tests.mutants has many runs after each other in one keyspace.
    else os.environ.get("TEST_KEYSPACE") or f"stoa_test_{secrets.token_hex(4)}"
)
# A node that lives for minutes gains nothing from the JVM's second compiler, which would take a third of its time.
os.environ.setdefault("JVM_EXTRA_OPTS", "-XX:TieredStopAtLevel=1")
# The suite starts some fifty processes: with the bytecode kept, each starts a third of a second sooner, or three where nothing is.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Borrowed first, so that the settings find the node that was recorded. If no other process uses it, it ends with the suite.
if not (WORKER or os.environ.get("CASSANDRA_HOSTS")):
    sys.path.insert(0, str(ROOT))
    from devtools.node import announce_local_node, control

    _borrowed = contextlib.ExitStack()
    _borrowed.enter_context(control.borrow_cluster(hasty=True))
    announce_local_node()
    atexit.register(_borrowed.close)
    # A suite that is asked to end ends as by Ctrl-C, so that it gives the node back.
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _make_media_root() -> str:
    folder = tempfile.mkdtemp(prefix="stoa-media-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


# WhiteNoise warns at every client of a test when there is nothing yet.
(ROOT / ".run" / "static").mkdir(parents=True, exist_ok=True)

os.environ |= {
    "CASSANDRA_KEYSPACE": KEYSPACE,
    "DJANGO_SETTINGS_MODULE": "storefront.settings",
    "SECRET_KEY": secrets.token_hex(32),
    "DEBUG": "0",
    "STOA_DEMO": "1",
    "STOA_HTTPS": "0",
    "ALLOWED_HOSTS": "testserver,127.0.0.1,localhost",
    "COUNT_STATEMENTS": "1",
    "CHEAP_PASSWORD_HASHES": "1",
    # A test sees at once what it has changed; tests/storefront/test_whole_pages.py keeps pages, and so does the shop in the browser.
    "WHOLE_PAGE_SECONDS": "0",
    "LOG_LEVEL": "WARNING",
    # What tests upload goes with the run.
    "MEDIA_ROOT": os.environ.get("MEDIA_ROOT") or _make_media_root(),
    "SLOW_STATEMENT_SECONDS": "5",
    # What the consistency check reads most: a quarter of all statements of the proof by crashes. tests/inventory/test_ledger.py has 16.
    "STOCK_LEDGER_SHARDS": "2",
    # Races are to meet in the database; the tests of the checkout queue set their own number.
    "CHECKOUTS_AT_ONCE": "9999",
    # All tests come from one address; those of limits set their own.
    "LIMIT_LOGIN": "10,9999,9999,900",
    "LIMIT_CODE": "6,9999,0,600",
    "LIMIT_RESET": "5,9999,9999,3600",
    "LIMIT_REGISTRATION": "5,9999,9999,3600",
    "LIMIT_LOOKUP": "10,9999,9999,900",
    "LIMIT_VOUCHER": "10,9999,9999,900",
    "LIMIT_INVITATION": "30,9999,9999,3600",
    "LIMIT_WAITING": "20,9999,9999,3600",
    "LIMIT_ORDER": "0,0,0,600",
    "LIMIT_UNPAID_ORDER": "3,9999,0,3600",
    "LIMIT_CONFIRMATION": "3,9999,0,3600",
    "UNPAID_UNITS": "20,0",
    "LIMIT_REPORT": "10,9999,0,3600",
    "LIMIT_VOTE": "10,9999,0,3600",
    "LIMIT_EDIT": "10,9999,0,3600",
    "LIMIT_SEARCH": "0,9999,0,60",
    # Who is slowed down waits for nothing; the tests of limits look at who would.
    "LIMIT_DELAY_SECONDS": "0",
}
