"""Prepares a web process before it serves, so that its first visitors need not wait (X83).

It loads views and templates, prepares all statements, and draws a page of each kind. It writes no rows, and sets no cookies.
Without Cassandra the process serves the pages that need no database, and tries again. If the keyspace lacks tables or columns
that this version has, the server ends.
"""

import gc
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from threading import Event, Thread
from time import sleep
from typing import Any
from urllib.parse import urlsplit
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.template.engine import Engine
from django.template.loader import get_template
from django.template.utils import get_app_template_dirs
from django.urls import get_resolver, reverse
from django.utils.module_loading import import_string
from gunicorn.arbiter import Arbiter

from cassandra_db import CassandraUnavailable, compare_clocks, prepare_statements
from catalogue.queries import get_category_page, list_root_categories
from jobs.errors import SchemaOutdated
from jobs.schema import require_current_schema
from mail.kinds import compile_placeholders
from payments.gateways import load_gateway

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
# How often Cassandra is asked again while it is away.
RETRY_SECONDS = 5.0
log = logging.getLogger(__name__)


def start_warm_up(application: Application) -> Event:
    """Warm this process up in a thread; return the event after which it may serve."""
    can_serve = Event()
    Thread(target=warm_up, args=(application, can_serve), name="warm-up", daemon=True).start()
    return can_serve


def warm_up(application: Application, can_serve: Event) -> None:
    """Load code, compile templates, prepare statements. Set `can_serve` at the end, or as soon as Cassandra proves to be away."""
    try:
        load_code()
        compile_templates()
        while not _is_warm_with_cassandra(application):
            can_serve.set()
            sleep(RETRY_SECONDS)
    except SchemaOutdated as error:
        log.critical("%s", error)
        # So gunicorn's master ends, too, instead of starting another process that cannot serve.
        os._exit(Arbiter.WORKER_BOOT_ERROR)
    except Exception:
        # A visitor would meet the same error, and get an answer.
        log.exception("this process serves without being warm")
    if not can_serve.is_set():
        # Objects of the warm-up stay, so garbage collections need not visit them. Beside requests, this would freeze theirs, too.
        gc.collect()
        gc.freeze()
    can_serve.set()


def _is_warm_with_cassandra(application: Application) -> bool:
    """Prepare the statements and draw the pages; return False if Cassandra is away. Raises SchemaOutdated."""
    try:
        require_current_schema()
        compare_clocks()
        prepare_statements()
        for path in list_pages():
            open_page(application, path)
    except CassandraUnavailable as error:
        log.warning("this process is not warm without a database: %s", error)
        return False
    return True


def load_code() -> None:
    """Import all views, and everything that requests load by a name in the settings."""
    get_resolver().reverse_dict  # noqa: B018 -- a property that loads them
    for gateway in settings.PAYMENT_GATEWAYS:
        load_gateway(gateway)
    for handler in settings.FILE_UPLOAD_HANDLERS:
        import_string(handler)


def compile_templates() -> None:
    """Compile the templates of all apps; the loaders keep them. Compile the placeholders of mails, too."""
    compile_placeholders()
    for folder in (*map(Path, Engine.get_default().dirs), *get_app_template_dirs("templates")):
        for file in folder.rglob("*.*"):
            try:
                get_template(str(file.relative_to(folder)))
            except Exception as error:  # noqa: BLE001 -- an unused file, or a page that fails for its visitors, too
                log.warning("%s does not compile: %s", file, error)


def list_pages() -> Iterator[str]:
    """Yield the address of a page of each kind; an empty shop has no product's page. Raises CassandraUnavailable."""
    yield from (reverse("home"), reverse("cart:show"), reverse("accounts:login"))
    for category in list_root_categories():
        if cards := get_category_page(category.category_id).cards:
            yield reverse("category", args=(category.slug,))
            yield reverse("product", args=(cards[0].slug,))
            return


def open_page(application: Application, path: str) -> None:
    """Draw a page for a visitor without cookies, and drop it. Raises CassandraUnavailable."""
    environ = {
        "PATH_INFO": path,
        "HTTP_HOST": urlsplit(settings.PUBLIC_URL).netloc,
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.url_scheme": "https" if settings.HTTPS else "http",
    }
    setup_testing_defaults(environ)
    statuses: list[str] = []
    answer = application(environ, lambda status, headers: statuses.append(status))
    for _ in answer:
        pass
    if hasattr(answer, "close"):
        answer.close()
    if statuses[0].startswith("503"):
        raise CassandraUnavailable(f"{path} answers {statuses[0]}")
    if not statuses[0].startswith("200"):
        log.warning("%s answers %s while this process warms up", path, statuses[0])
