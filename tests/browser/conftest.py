"""The whole shop in a real browser: gunicorn, worker, mail catcher and a demo shop in a keyspace of its own.

`$CHROMIUM`, or the Chromium on the PATH, drives it. Without one these tests are skipped; under CI that is a failure.
Every page is watched: an error on its console, a breach of the Content-Security-Policy or an answer of 500 fails the
test that opened it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from django.template.loader import render_to_string
from django.urls import resolve
from playwright.sync_api import (
    APIRequestContext,
    Browser,
    BrowserContext,
    Error,
    Page,
    expect,
    sync_playwright,
)

from cassandra_db.session import get_session
from devtools.chromium import find_chromium
from tests.browser.page_watch import PageWatch
from tests.browser.shop_pages import PAGES, ShopPage
from tests.environment import KEYSPACE, ROOT
from tests.processes import count_browser_time
from tests.web_server import WebServer, collect_static_files, fetch_page, find_free_port

MISSING = (
    "no Chromium on the PATH and none in $CHROMIUM. "
    "`apt-get install chromium-headless-shell` installs one (or set CHROMIUM=/path/to/chromium)"
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-color-profile=srgb",
]
DEVICES: dict[str, dict[str, Any]] = {
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
    "desktop": {"viewport": {"width": 1280, "height": 900}},
}

FORM = {"content-type": "application/x-www-form-urlencoded"}

CHANGES_SHOP = "test_forms.py"
LOAD = """
from django.core.management import call_command
from cassandra_db.session import close_session
call_command("migrate")
close_session()
call_command("load_demo", "--orders", "0", "--posts", "2")
"""

OpenPage = Callable[..., Page]
InspectPages = Callable[..., list[str]]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, give a slow machine time, and put last what changes the shop that all of them share."""
    places = [
        number for number, item in enumerate(items) if Path(__file__).parent in item.path.parents
    ]
    own = sorted((items[each] for each in places), key=lambda item: item.path.name == CHANGES_SHOP)
    for number, item in zip(places, own, strict=True):
        items[number] = item
        item.add_marker(pytest.mark.browser)
        item.add_marker(pytest.mark.timeout(600))


@dataclass
class ServedShop:
    """A shop that is being served, and what `making` has made there."""

    url: str
    environment: dict[str, str]
    things: dict[str, str] = field(init=False)
    people: dict[str, dict[str, str]] = field(init=False)
    shared_carts: list[str] = field(init=False)
    long_category: str = field(init=False)

    def run_script(self, script: str) -> str:
        """Run a script in this shop and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", "shell", "-v0", "-c", script],
            cwd=ROOT,
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def fill(self, first: str = "") -> None:
        """Make what there is to be looked at, in the same process as what comes before it."""
        printed = self.run_script(
            first + "from tests.browser import shop_data; shop_data.print_shop_data()"
        )
        for name, made in json.loads(printed.splitlines()[-1]).items():
            setattr(self, name, made)

    def list_cookies(self, who: str) -> list[Any]:
        """Return a user's cookies, as a browser takes them."""
        return [
            {"name": name, "value": value, "url": self.url}
            for name, value in self.people[who].items()
        ]

    def find_mailed_link(self, to: str, path: str) -> str:
        """Return the first link to `path` that was mailed to this address, or an empty text if none has come yet."""
        for file in sorted((self.maildir / "new").glob("*")):
            mail = message_from_bytes(file.read_bytes(), policy=policy.default)
            body = mail.get_body(("plain",))
            if (
                to in str(mail["To"])
                and body
                and (found := re.search(rf"\S+{re.escape(path)}\S+", body.get_content()))
            ):
                return found[0]
        return ""

    @property
    def maildir(self) -> Path:
        return Path(self.environment["MAILDIR"])

    @staticmethod
    def save_picture(path: str, content: bytes) -> None:
        """Write a file of the repository that this run makes, unless it differs too little to be worth a change."""
        file = ROOT / path
        if os.environ.get("KEEP_PICTURES") or not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)


@pytest.fixture(scope="package")
def chromium_path() -> str:
    """The path of a Chromium."""
    found = find_chromium()
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="package")
def shop(
    chromium_path: str, keyspace: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServedShop]:
    """Fill a demo shop once, and serve it with a worker and a mail catcher beside it.

    $SHOP_URL, with $SHOP_KEYSPACE, $SHOP_SECRET_KEY and $MAILDIR, names one that is open already.
    """
    if url := os.environ.get("SHOP_URL"):
        secrets = {name: os.environ[f"SHOP_{name}"] for name in ("SECRET_KEY", "KEYSPACE")}
        environment = {
            "SECRET_KEY": secrets["SECRET_KEY"],
            "CASSANDRA_KEYSPACE": secrets["KEYSPACE"],
            "PUBLIC_URL": url,
        }
        open_already = ServedShop(
            url,
            environment
            | {"MAILDIR": os.environ["MAILDIR"], "STATIC_ROOT": str(collect_static_files())},
        )
        open_already.fill()
        # each process keeps the tree for half a minute
        fetch_page(url + open_already.long_category, until=200, seconds=60)
        yield open_already
        return
    folder = tmp_path_factory.mktemp("shop")
    mail_port = find_free_port()
    web = WebServer(
        folder,
        CASSANDRA_KEYSPACE=f"{KEYSPACE}_shop",
        SEARCH_INDEX_DIR=str(folder / "search"),
        MAILDIR=str(folder / "mail"),
        EMAIL_URL=f"smtp://127.0.0.1:{mail_port}",
        COUNT_STATEMENTS="0",
        WHOLE_PAGE_SECONDS="5",
    )
    with ExitStack() as stack:
        stack.callback(
            lambda: get_session().execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}_shop", timeout=180)
        )
        there = ServedShop(web.url, web.environment)
        there.fill(LOAD)
        stack.callback(web.stop)
        web.start()
        for command in (["mailcatcher", "--port", str(mail_port)], ["worker"]):
            stack.enter_context(_SideCommand(folder, there, *command))
        yield there


class _SideCommand:
    """A command of manage.py that runs beside the shop."""

    def __init__(self, folder: Path, shop: ServedShop, *command: str) -> None:
        self.log = (folder / f"{command[0]}.log").open("wb")
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=os.environ | shop.environment,
            stdout=self.log,
            stderr=self.log,
        )

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)
        self.log.close()


@pytest.fixture(scope="package")
def browser(chromium_path: str) -> Iterator[Browser]:
    """The browser. It ends with this folder's tests: its event loop would get into the way of others."""
    with sync_playwright() as playwright, count_browser_time():
        launched = playwright.chromium.launch(executable_path=chromium_path, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def open_page(browser: Browser, shop: ServedShop) -> Iterator[OpenPage]:
    """Opens a visitor's page: `visit(device="phone", who="guest", scripts=False, allow="regex of expected console words")`.

    It is a stranger's, unless `who` names a user whom `making` has made.
    """
    opened: list[tuple[BrowserContext, PageWatch]] = []

    def come(device: str = "desktop", *, who: str = "", allow: str = "", **options: Any) -> Page:
        page = open_context(browser, shop, device, who, **options).new_page()
        opened.append((page.context, PageWatch(page, allow)))
        return page

    yield come
    for context, watch in opened:
        watch.is_ended = True
        for each in context.pages:
            leave_page(each)
        context.close()
    for _, watch in opened:
        watch.assert_clean()


def open_context(
    chrome: Browser,
    shop: ServedShop,
    device: str,
    who: str,
    *,
    scripts: bool = True,
    **options: Any,
) -> BrowserContext:
    """Return a fresh browser of a user who is in the shop."""
    context = chrome.new_context(
        base_url=shop.url, java_script_enabled=scripts, locale="en-IE", **DEVICES[device] | options
    )
    context.set_default_timeout(10_000)
    expect.set_options(timeout=15_000)  # five seconds are little on a busy machine
    if who:
        context.add_cookies(shop.list_cookies(who))
    return context


def leave_page(page: Page) -> None:
    """Lead a page to nothing: Chromium can forget to close one that is committing a navigation (microsoft/playwright#42366)."""
    for _ in range(5):
        # A navigation that the page itself begins at this moment comes first.
        with suppress(Error):
            page.goto("about:blank")
            return


@pytest.fixture
def page(open_page: OpenPage) -> Page:
    """A fresh visitor at a desk."""
    return open_page()


@pytest.fixture
def phone_page(open_page: OpenPage) -> Page:
    """A fresh visitor with a phone."""
    return open_page("phone")


@pytest.fixture
def page_without_scripts(open_page: OpenPage) -> Page:
    """A fresh visitor whose browser runs no scripts."""
    return open_page(scripts=False)


@pytest.fixture
def inspect_pages(browser: Browser, shop: ServedShop) -> InspectPages:
    """Opens all pages of a part of the shop, and returns what `check` and the page's watch find wrong with each.

    Each user has one browser and one tab for all of them: each further one would cost a process. `script` runs in
    every page before its own. So does axe: the browser keeps it, and compiles it once for the tab.
    """

    def looked(
        device: str, part: str, check: Callable[[Page], list[str]], script: str, **options: Any
    ) -> list[str]:
        faults: list[str] = []
        tabs: dict[str, tuple[Page, PageWatch]] = {}
        for name, place in PAGES[part].items():
            if place.who not in tabs:
                page = open_context(browser, shop, device, place.who, **options).new_page()
                page.add_init_script(script)
                page.add_init_script(AXE_SCRIPT)
                tabs[place.who] = page, PageWatch(page)
            page, watch = tabs[place.who]
            page.set_viewport_size(DEVICES[device]["viewport"])
            watch.restart(
                rf"status of {place.status}|answered {place.status}$" if place.status >= 400 else ""
            )
            try:
                found = [*open_shop_page(page, shop, place), *check(page)]
            except (Error, AssertionError) as error:
                found = [str(error)]
            page.unroute_all()
            faults += [f"{name}: {each}" for each in (*found, *watch.problems)]
        for page, _ in tabs.values():
            leave_page(page)
            page.context.close()
        return faults

    return looked


def open_shop_page(page: Page, shop: ServedShop, place: ShopPage) -> list[str]:
    """Open a page; return what is wrong if it is not the one that was meant."""
    address = place.address.format_map(shop.things)
    if place.template:
        text = render_bare_page(place, address)
        page.route(
            f"**{address}",
            lambda route: route.fulfill(status=place.status, body=text, content_type="text/html"),
        )
    elif place.form_data:
        page.route(
            f"**{address}",
            lambda route: route.continue_(
                method="POST", post_data=place.form_data, headers=route.request.headers | FORM
            ),
        )
    elif place.view and hasattr(resolve(urlsplit(address).path).func, "page_parameters"):
        # So what is looked at is a page from memory (decision 045).
        page.context.request.get(address)
    response = page.goto(address)
    assert response
    there = urlsplit(page.url).path
    view = resolve(there).view_name if place.view else ""
    if (response.status, there, view) == (place.status, urlsplit(address).path, place.view):
        return []
    return [f"{address} answered {response.status} at {there}, which is {view or 'no view'}"]


def render_bare_page(place: ShopPage, address: str) -> str:
    """Return a page that needs no database, no request and no context: it is what it is for."""
    return render_to_string(
        place.template, {"sent": [("name", "Ada")], "path": address, "seconds": 9, "over": 25}
    )


def read_shop_page(request: APIRequestContext, shop: ServedShop, place: ShopPage) -> str:
    """Return a page's text, as it is sent. Raises AssertionError if another status comes than is meant."""
    address = place.address.format_map(shop.things)
    if place.template:
        return render_bare_page(place, address)
    answer = request.fetch(
        address,
        method="POST" if place.form_data else "GET",
        data=place.form_data or None,
        headers=FORM if place.form_data else None,
        max_redirects=0,
    )
    assert answer.status == place.status, f"{address} answered {answer.status}"
    text = answer.text()
    answer.dispose()
    return text


@pytest.fixture(scope="package")
def long_category(shop: ServedShop) -> str:
    """The address of a category with more products than a page shows."""
    return shop.long_category
