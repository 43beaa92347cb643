"""The whole shop in a real browser: gunicorn, worker, mail catcher and a showroom in a keyspace of its own.

`$CHROMIUM`, or the Chromium on the PATH, drives it. Without one these tests are skipped; under CI that is a failure.
Every page is watched: an error on its console, a breach of the Content-Security-Policy or an answer of 500 fails the
test that opened it.
"""

import os
import re
import shutil
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from email import message_from_bytes, policy
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, sync_playwright

from cassandra_db.session import session
from tests.browser.places import Places, furnished
from tests.browser.watching import Watch
from tests.environment import KEYSPACE, ROOT
from tests.serving import answer, free_port, served

# The shell is a Chromium without windows: the same pages for a third of the processor time.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")
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

# Deep in the tree and old, so that the front page shows none of it.
LONG_SHELF = """
from datetime import UTC, datetime, timedelta
from catalogue.queries import category_by_slug
from tests.factories import make_category, make_product
shelf = make_category("Long shelf", parent=category_by_slug("stationery"))
for number in range(40):
    then = datetime(2020, 1, 1, tzinfo=UTC) - timedelta(days=number)
    make_product(f"Card {number:02}", category=shelf, now=then, listed=True)
print(shelf.slug)
"""

Visit = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what lies here, and give a slow machine time."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))


@dataclass(frozen=True)
class Shop:
    """A shop that is being served."""

    url: str
    environment: dict[str, str]
    long_shelf: str = ""

    def command(self, *arguments: str) -> str:
        """Run a command of manage.py in this shop and return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=os.environ | self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def lengthened(self) -> str:
        """Make a category with more products than a page shows, and return its address."""
        address = f"/c/{self.command('shell', '-v0', '-c', LONG_SHELF).split()[-1]}/"
        if self.url:
            answer(self.url + address, until=200, seconds=60)  # each process keeps the tree for half a minute
        return address

    def mailed_link(self, to: str, path: str) -> str:
        """Return the first link to `path` that was mailed to this address, or an empty text if none has come yet."""
        for file in sorted((self.maildir / "new").glob("*")):
            mail = message_from_bytes(file.read_bytes(), policy=policy.default)
            body = mail.get_body(("plain",))
            if to in str(mail["To"]) and body and (found := re.search(rf"\S+{re.escape(path)}\S+", body.get_content())):
                return found[0]
        return ""

    @property
    def maildir(self) -> Path:
        return Path(self.environment["MAILDIR"])

    @staticmethod
    def keep(path: str, content: bytes) -> None:
        """Write a file of the repository that this run makes, unless it differs too little to be worth a change."""
        file = ROOT / path
        if os.environ.get("KEEP_PICTURES") or not file.exists():
            file.parent.mkdir(exist_ok=True)
            file.write_bytes(content)


@pytest.fixture(scope="package")
def chromium() -> str:
    """The path of a Chromium."""
    found = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    return found


@pytest.fixture(scope="package")
def shop(chromium: str, keyspace: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Fill a showroom once, and serve it with a worker and a mail catcher beside it.

    $SHOP_URL, with $SHOP_KEYSPACE and $MAILDIR, names one that is open already.
    """
    if url := os.environ.get("SHOP_URL"):
        yield Shop(url, {"CASSANDRA_KEYSPACE": os.environ["SHOP_KEYSPACE"], "MAILDIR": os.environ["MAILDIR"]})
        return
    folder = tmp_path_factory.mktemp("shop")
    mail_port = free_port()
    environment = {
        "CASSANDRA_KEYSPACE": f"{KEYSPACE}_shop",
        "SEARCH_INDEX_DIR": str(folder / "search"),
        "MAILDIR": str(folder / "mail"),
        "EMAIL_URL": f"smtp://127.0.0.1:{mail_port}",
        "COUNT_STATEMENTS": "0",
    }
    with ExitStack() as stack:
        stack.callback(lambda: session().execute(f"DROP KEYSPACE IF EXISTS {KEYSPACE}_shop", timeout=180))
        filled = Shop("", environment)
        filled.command("sync_cassandra")
        filled.command("load_showroom", "--without-orders")
        long_shelf = filled.lengthened()
        url = stack.enter_context(served(folder, 1, **environment))
        there = Shop(url, environment | {"PUBLIC_URL": url}, long_shelf)
        for command in (["mailcatcher", "--port", str(mail_port)], ["worker"]):
            stack.enter_context(_beside(folder, there, *command))
        yield there


class _beside:  # noqa: N801 -- reads like the function it stands for
    """A command of manage.py that runs beside the shop."""

    def __init__(self, folder: Path, shop: Shop, *command: str) -> None:
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
def chrome(chromium: str) -> Iterator[Browser]:
    """The browser. It ends with this folder's tests: its event loop would get into the way of others."""
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def visit(chrome: Browser, shop: Shop) -> Iterator[Visit]:
    """Opens a fresh visitor's page: `visit(device="phone", scripts=False, allow="regex of expected console words")`."""
    opened: list[tuple[BrowserContext, Watch]] = []

    def come(device: str = "desktop", *, scripts: bool = True, allow: str = "", **options: Any) -> Page:
        context = chrome.new_context(
            base_url=shop.url, java_script_enabled=scripts, locale="en-IE", **DEVICES[device] | options
        )
        context.set_default_timeout(10_000)
        page = context.new_page()
        opened.append((context, Watch(page, allow)))
        return page

    yield come
    for context, watch in opened:
        watch.ended = True
        for each in context.pages:
            _rest(each)
        context.close()
    for _, watch in opened:
        watch.assert_clean()


def _rest(page: Page) -> None:
    """Lead a page to nothing: Chromium can forget to close one that is committing a navigation (microsoft/playwright#42366)."""
    for _ in range(5):
        # A navigation that the page itself begins at this moment comes first.
        with suppress(Error):
            page.goto("about:blank")
            return


@pytest.fixture
def page(visit: Visit) -> Page:
    """A fresh visitor at a desk."""
    return visit()


@pytest.fixture
def phone(visit: Visit) -> Page:
    """A fresh visitor with a phone."""
    return visit("phone")


@pytest.fixture
def plain(visit: Visit) -> Page:
    """A fresh visitor whose browser runs no scripts."""
    return visit(scripts=False)


@pytest.fixture(scope="package")
def places(chrome: Browser, shop: Shop) -> Places:
    """The shop's pages, made ready once."""
    return furnished(lambda: chrome.new_context(base_url=shop.url, **DEVICES["desktop"]))


@pytest.fixture(scope="package")
def long_shelf(shop: Shop) -> str:
    """The address of a category with more products than a page shows."""
    return shop.long_shelf or shop.lengthened()


def wait_for(what: Callable[[], Any], seconds: float = 20) -> Any:
    """Ask again and again until the answer is something, and return it."""
    deadline = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.25)
    return found


def text_of(url: str) -> str:
    """Return the text of a page, read without a browser."""
    with urllib.request.urlopen(url, timeout=10) as answer:  # noqa: S310 -- our own address
        return str(answer.read().decode())
