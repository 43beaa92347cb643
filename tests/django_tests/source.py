"""Django's own tests, from the source distribution of the pinned version, adapted to this shop's users, sessions and messages.

    python -m tests.django_tests.source FOLDER      # writes the adapted tests there, to look at or to run one of them

The distribution comes from the package index that pip is configured with, and is held to the hash in requirements.txt. It is kept
beside the other tools of the suite. Nothing of Django is in this repository: the replacements below are all that differs.
"""

import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

import django

from tests.environment import ROOT
from tests.tools import FOLDER, ToolMissing, only_one

# What is run: test files, or one of their classes. The rest of a file tests Django's other backends.
RUN = (
    "sessions_tests/tests.py::DatabaseSessionTests",
    "sessions_tests/tests.py::SessionMiddlewareTests",
    "messages_tests/test_api.py",
    "messages_tests/test_cookie.py",
    "messages_tests/test_middleware.py",
    "messages_tests/test_mixins.py",
    "messages_tests/tests.py",
    "test_client/tests.py",
    "test_client/test_conditional_content_removal.py",
    "test_client/test_fakepayload.py",
    "auth_tests/test_tokens.py",
    "auth_tests/test_basic.py",
    "auth_tests/test_login.py",
)
# What these need beside themselves.
_COPIED = ("sessions_tests/", "messages_tests/", "test_client/", "templates/")

# (pattern, what stands there instead), in this order.
_REPLACED = (
    # The shop's classes instead of Django's.
    (r"from django\.contrib\.auth\.models import User\b", "from accounts.models import User"),
    (
        r"from django\.contrib\.auth\.models import AnonymousUser, User\b",
        "from accounts.models import User\nfrom django.contrib.auth.models import AnonymousUser",
    ),
    (
        r"from django\.contrib\.sessions\.backends\.db import SessionStore",
        "from accounts.sessions import SessionStore",
    ),
    (r"from django\.contrib\.sessions\.middleware import", "from accounts.middleware import"),
    (
        r"from django\.contrib\.messages\.storage\.cookie import \(\n    CookieStorage,",
        "from web.messages import MessageStorage as CookieStorage\nfrom django.contrib.messages.storage.cookie import (",
    ),
    # The shop has one class of each, and no model of sessions.
    (r"from django\.contrib\.sessions\.models import Session\n", "Session = None\n"),
    (r"from \.models import SessionStore as CustomDatabaseSession", "CustomDatabaseSession = None"),
    (r"from \.models import CustomEmailField", "CustomEmailField = User"),
    (r"from \.models import CustomUser", "CustomUser = None"),
    # Users are known by their e-mail addresses.
    (r'"test@example\.com"', '"testuser@example.com"'),
    (r'"(testclient|inactive|otheruser|tokentestuser|testuser)"', r'"\1@example.com"'),
    (r'get\(username="comebackkid"\)', 'get(email="test3@example.com")'),
    (r"\.username\b", ".email"),
    # The engine connects whenever the list of apps changes.
    (r"class CookieTests\(.*\n", r'\g<0>    databases = {"default"}\n'),
    # Cookies have the shop's names.
    (r'"Set-Cookie: sessionid=%s"', 'f"Set-Cookie: {settings.SESSION_COOKIE_NAME}=%s"'),
    (r'cookies\["messages"\]', "cookies[settings.MESSAGES_COOKIE_NAME]"),
    (r"from django\.core\.signing import b64_decode", r"\g<0>\nfrom django.conf import settings"),
)

# The run's keyspace, and all else that the suite's tests are given. A session notes the second in which it began or got another
# key: tests that compare it before and after are not to meet the end of a second.
_CONFTEST = """
import pytest

from cassandra_db import current_time
from tests.conftest import *


@pytest.fixture(autouse=True)
def hold_clock(request, monkeypatch):
    if "cycle" in request.node.name:
        now = current_time()
        monkeypatch.setattr("accounts.sessions.current_time", lambda: now)
"""


def write_adapted_tests(folder: Path) -> None:
    """Write the adapted tests into an empty folder. Raises ToolMissing if Django's distribution cannot be had."""
    for path in (files := fetch_tests()).rglob("*"):
        target = folder / path.relative_to(files)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(
                _adapt(path.read_bytes()) if path.suffix == ".py" else path.read_bytes()
            )
    (folder / "auth_tests" / "__init__.py").touch()
    (folder / "conftest.py").write_text(_CONFTEST, encoding="utf-8")


def _adapt(source: bytes) -> bytes:
    text = source.decode()
    for pattern, instead in _REPLACED:
        text = re.sub(pattern, instead, text)
    return text.encode()


def fetch_tests() -> Path:
    """Return the folder with Django's tests as they were released, fetching them if need be. Raises ToolMissing."""
    kept = FOLDER / f"django-tests-{django.__version__}"
    with only_one():
        if not kept.exists():
            with tempfile.TemporaryDirectory(dir=FOLDER) as made:
                _unpack(_download(Path(made)), Path(made) / "tests")
                (Path(made) / "tests").replace(kept)
    return kept


def _download(folder: Path) -> Path:
    pinned = re.search(
        rf"^django=={re.escape(django.__version__)} (?:\\\n +--hash=\S+ ?)+",
        (ROOT / "requirements.txt").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    if pinned is None:
        raise ToolMissing(
            f"Django {django.__version__} is installed, and requirements.txt pins another one"
        )
    (folder / "django.txt").write_text(pinned[0] + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--no-binary", "django"]
    command += ["--require-hashes", "-r", str(folder / "django.txt"), "-d", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ToolMissing(
            f"Django's source distribution cannot be had from the package index:\n{done.stderr}"
        )
    (archive,) = folder.glob("*.tar.gz")
    return archive


def _unpack(archive: Path, folder: Path) -> None:
    wanted = {path.partition("::")[0] for path in RUN}
    with tarfile.open(archive) as files:
        for member in files:
            name = member.name.partition("/tests/")[2]
            if member.isfile() and (name in wanted or name.startswith(_COPIED)):
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(files.extractfile(member).read())  # type: ignore[union-attr]


if __name__ == "__main__":
    write_adapted_tests(Path(sys.argv[1]))
