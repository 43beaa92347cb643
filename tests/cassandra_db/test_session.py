"""The process's one session."""

import subprocess
import sys

from tests.architecture.apps import ROOT

# What is registered for the exit runs last to first: the question stands between the shop's end of the thread and the driver's.
_PROGRAM = """
import atexit, os
from cassandra.io import libevreactor
atexit.register(lambda: print("alive:", libevreactor._global_loop._thread.is_alive()))
os.environ["DJANGO_SETTINGS_MODULE"] = "storefront.settings"
import django
django.setup()
from cassandra_db.session import get_session
get_session()
"""


def test_a_process_ends_the_drivers_thread_before_the_driver_waits_five_seconds_for_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "alive: False\n"
