"""What a web process does before it serves: all that its first visitors would else wait for (X83).

Addresses with their views, templates, the statements of all apps, and a page of each kind. Nothing is written, and nobody gets a cookie. Without
Cassandra the process serves what it can meanwhile, and tries again; what is needed before then is prepared when it is.
"""

import gc
import logging
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

from cassandra_db import CassandraUnavailable, compare_clocks, prepare_statements
from catalogue.queries import get_category_page, list_root_categories
from payments.gateways import load_gateway

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]
# While Cassandra is away, so often it is asked again.
RETRY_SECONDS = 5.0
log = logging.getLogger(__name__)


def start_warm_up(application: Application) -> Event:
    """Warm this process up in a thread; return the event that it need not wait with serving any longer."""
    can_serve = Event()
    Thread(target=warm_up, args=(application, can_serve), name="warm-up", daemon=True).start()
    return can_serve


def warm_up(application: Application, can_serve: Event) -> None:
    """Load, compile and prepare everything. Sets `can_serve` when that is done, and before if Cassandra is away."""
    try:
        load_code()
        compile_templates()
        while not _is_warm_with_cassandra(application):
            can_serve.set()
            sleep(RETRY_SECONDS)
    except Exception:
        # What fails here fails for a visitor as well, and is answered there.
        log.exception("this process serves without being warm")
    if not can_serve.is_set():
        # What is in memory now stays there: no collection need look at it again. Beside requests theirs would stay, too.
        gc.collect()
        gc.freeze()
    can_serve.set()


def _is_warm_with_cassandra(application: Application) -> bool:
    """Prepare the statements and draw the pages; return False if Cassandra is away."""
    try:
        compare_clocks()
        prepare_statements()
        for path in list_pages():
            open_page(application, path)
    except CassandraUnavailable as error:
        log.warning("this process is not warm without a database: %s", error)
        return False
    return True


def load_code() -> None:
    """Import all addresses with their views, and what requests load by its name in the settings."""
    get_resolver().reverse_dict  # noqa: B018 -- a property that loads them
    for gateway in settings.PAYMENT_GATEWAYS:
        load_gateway(gateway)
    for handler in settings.FILE_UPLOAD_HANDLERS:
        import_string(handler)


def compile_templates() -> None:
    """Compile the templates of all apps; the loaders keep them."""
    for folder in (*map(Path, Engine.get_default().dirs), *get_app_template_dirs("templates")):
        for file in folder.rglob("*.*"):
            try:
                get_template(str(file.relative_to(folder)))
            except Exception as error:  # noqa: BLE001 -- a file that no page uses, or a page that fails for its visitors
                log.warning("%s does not compile: %s", file, error)


def list_pages() -> Iterator[str]:
    """Yield the address of a page of each kind; none of a product in a shop that lists none. Raises CassandraUnavailable."""
    yield from (reverse("home"), reverse("cart:show"), reverse("accounts:login"))
    for category in list_root_categories():
        if cards := get_category_page(category.category_id).cards:
            yield reverse("category", args=(category.slug,))
            yield reverse("product", args=(cards[0].slug,))
            return


def open_page(application: Application, path: str) -> None:
    """Draw a page as for a visitor without cookies, and throw it away. Raises CassandraUnavailable."""
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
