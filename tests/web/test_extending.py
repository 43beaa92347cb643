"""docs/extending.md, followed to the letter: its files, its settings, its commands, and then its pages."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from runpy import run_path

import pytest
from django.core.checks import run_checks
from django.core.exceptions import ImproperlyConfigured
from django.test import override_settings

from tests.environment import ROOT
from tests.web_server import fetch_page, serve_shop

PAGE = (ROOT / "docs" / "extending.md").read_text()
PLACE = "/srv/extensions"
_FILES = re.compile(rf"^`{PLACE}/([\w/.]+)`[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def extension(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Write the document's files; return its settings, with the static files collected as it says."""
    folder = tmp_path_factory.mktemp("extensions")
    files = _FILES.findall(PAGE)
    assert len(files) >= 8
    for name, text in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    settings, commands = (each.replace(PLACE, str(folder)) for each in _SHELL.findall(PAGE))
    environment = dict(line.split("=", 1) for line in settings.splitlines())
    environment |= {
        "STATIC_ROOT": str(folder / "collected"),
        "SEARCH_INDEX_DIR": str(folder / "search"),
    }
    for command in commands.splitlines():
        _, *words = command.split()
        subprocess.run([sys.executable, *words], cwd=ROOT, env=os.environ | environment, check=True)
    return environment


@pytest.fixture(scope="module")
def url(extension: Mapping[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a shop with the document's app."""
    with serve_shop(tmp_path_factory.mktemp("web"), 1, **extension) as found:
        yield found


def test_x467_an_app_and_a_folder_override_templates_and_add_pages_and_a_stylesheet(
    url: str,
) -> None:
    _, _, hours = fetch_page(f"{url}/garden/opening-hours/", until=200)
    assert "Stoa is open from 9 to 17." in hours
    assert "<title>Opening hours · Stoa</title>" in hours
    _, _, missing = fetch_page(f"{url}/no-such-page/", until=404)
    assert "Nothing grows here." in missing
    assert "Search for something else" in missing, "the rest of the shop's page is there"
    _, _, lookup = fetch_page(f"{url}/orders/", until=200)
    assert "The number is on the label of your plant." in lookup
    assert 'name="number"' in lookup
    for page in (hours, missing, lookup):
        styles = re.findall(r'<link rel="stylesheet" href="(/static/(\w+)/[^"]+)"', page)
        assert [name for _, name in styles] == ["css", "garden"], "it comes after the shop's own"
    _, headers, style = fetch_page(url + styles[1][0], until=200)
    assert "underline" in style
    assert "immutable" in headers["Cache-Control"]


def test_x468_a_missing_folder_or_stylesheet_is_named_before_the_shop_opens(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("web.extensions.list_stylesheets", lambda: ["css/stoa.css", "no/such.css"])
    monkeypatch.setenv("PROMETHEUS_MULTIPROC_DIR", str(tmp_path))
    with override_settings(TEMPLATE_FOLDERS=[tmp_path, tmp_path / "none"]):
        found = [str(each.msg) for each in run_checks() if each.id == "web.E010"]
    assert found == [
        f"The folder {tmp_path / 'none'} (TEMPLATE_FOLDERS) is not there.",
        "The stylesheet no/such.css is not there.",
    ]
    with pytest.raises(ImproperlyConfigured, match=r"no/such\.css"):
        run_path(str(ROOT / "gunicorn.conf.py"))["on_starting"](None)
