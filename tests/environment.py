"""Read before Django's settings (`-p tests.environment`): the shop under test is configured by the environment, as any other.

Without CASSANDRA_HOSTS the suite starts this checkout's own node.
"""

import os
import secrets
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYSPACE = f"stoa_test_{secrets.token_hex(4)}"
# Started first, so that the settings find the node that was recorded. Starting it twice is harmless.
if not os.environ.get("CASSANDRA_HOSTS"):
    sys.path.insert(0, str(ROOT))
    from cassandra_db.node import recorded_endpoint

    if recorded_endpoint() is None:
        subprocess.run(
            [sys.executable, "manage.py", "cassandra", "start"],
            cwd=ROOT,
            check=True,
            env=os.environ | {"DEBUG": "1"},
        )

os.environ |= {
    "CASSANDRA_KEYSPACE": KEYSPACE,
    "DJANGO_SETTINGS_MODULE": "storefront.settings",
    "SECRET_KEY": secrets.token_hex(32),
    "DEBUG": "0",
    "STOA_SHOWROOM": "1",
    "STOA_HTTPS": "0",
    "ALLOWED_HOSTS": "testserver,127.0.0.1,localhost",
    "COUNT_STATEMENTS": "1",
    "LOG_LEVEL": "WARNING",
    "SLOW_STATEMENT_SECONDS": "5",
}
