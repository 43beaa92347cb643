"""gunicorn's settings and hooks. WEB_CONCURRENCY and WEB_THREADS set its processes and threads; `--bind` sets its address."""

import os
import shutil
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from devtools.node import announce_local_node

# For at most this long a starting process serves no requests; meanwhile they wait, or other processes serve them.
WARM_UP_SECONDS = 30

# As in manage.py, so that web server and worker use the same node if the environment names none.
announce_local_node()

bind = os.environ.get("BIND", "127.0.0.1:8000")

# Threads, because a page mostly waits for the database; processes, because the driver decodes rows under the GIL.
# A request gets a thread once it has arrived completely.
worker_class = "storefront.gunicorn_worker.WholeRequestWorker"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = int(os.environ.get("WEB_THREADS", "16"))
# A driver session must not live across a fork.
preload_app = False

# Longer than the slowest conditional write with its second try, so that a restart interrupts no write.
graceful_timeout = 20
timeout = 30
keepalive = 5
# Per process; below 1,024, the usual limit of open files.
worker_connections = 800
max_requests = 50_000
max_requests_jitter = 5_000

# More than the shop's own pages need; larger requests are an attempt at abuse.
limit_request_line = 4094
limit_request_fields = 60
limit_request_field_size = 8190

# The address of the proxy in front: only its X-Forwarded-* headers are believed.
forwarded_allow_ips = os.environ.get("FORWARDED_ALLOW_IPS", "127.0.0.1")
# The default lets SCRIPT_NAME and PATH_INFO headers rewrite a request's address. A proxy forwards them from any visitor.
forwarder_headers = ""

# The heartbeat file belongs in memory; a slow disk would look like a hanging worker.
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 -- not a place for secrets

# The folder in which each process counts for /metrics (web.metrics), set before the library is imported. gunicorn empties no folder that the environment names.
_METRICS_PREFIX = "stoa-metrics-"
_metrics_folder = None
if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
    _metrics_folder = tempfile.mkdtemp(
        prefix=f"{_METRICS_PREFIX}{os.getpid()}-", dir=worker_tmp_dir
    )
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = _metrics_folder

# The shop does not use it, and its default path is the same for all runs of a user, so two runs would collide.
control_socket_disable = True

errorlog = "-"
loglevel = os.environ.get("LOG_LEVEL", "info").lower()


def on_starting(server: Any) -> None:
    """Refuse to start with missing or unsafe secrets (web.checks) or without an extension's files, instead of failing at the first visitor."""
    import django
    from django.conf import settings
    from django.core.exceptions import ImproperlyConfigured

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.settings")
    django.setup()
    from web.checks import check_secrets
    from web.extensions import check_extensions

    assert settings.SECRET_KEY  # Django raises ImproperlyConfigured when it is empty
    if wrong := [*check_secrets(), *check_extensions()]:
        raise ImproperlyConfigured("; ".join(f"{each.msg} {each.hint}" for each in wrong))
    _remove_metrics_of_killed_servers()


def _remove_metrics_of_killed_servers() -> None:
    """Delete the metrics folders of servers that were killed before they could delete them."""
    import psutil

    for folder in Path(tempfile.gettempdir() if worker_tmp_dir is None else worker_tmp_dir).glob(
        f"{_METRICS_PREFIX}*"
    ):
        pid = folder.name.removeprefix(_METRICS_PREFIX).partition("-")[0]
        if folder.stat().st_uid == os.getuid() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def post_worker_init(worker: Any) -> None:
    """Wait until the process is warmed up before it takes requests: at most WARM_UP_SECONDS, and not while Cassandra is away."""
    from storefront.warm_up import start_warm_up

    can_serve, until = start_warm_up(worker.wsgi), monotonic() + WARM_UP_SECONDS
    while worker.alive and monotonic() < until and not can_serve.wait(1):
        worker.notify()  # gunicorn kills a process that is silent for `timeout`


def worker_exit(server: Any, worker: Any) -> None:
    """Write the queued events, and close the session with Cassandra."""
    from cassandra_db.batch_writer import close_writers
    from cassandra_db.session import close_session

    close_writers()
    close_session()


def child_exit(server: Any, worker: Any) -> None:
    """Add the metrics of an ended process to the total of all ended processes."""
    from web.metrics import add_up_ended_process

    add_up_ended_process(worker.pid)


def on_exit(server: Any) -> None:
    """Delete the folder with the metrics files."""
    if _metrics_folder:
        shutil.rmtree(_metrics_folder, ignore_errors=True)
