"""The way through the house: who may import whom, and where a thing belongs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.rooms import LAYERS, MAY_IMPORT, ROOMS, ROOT, kind_of

FILES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))


def imports(path: Path) -> Iterator[str]:
    tree = ast.parse(path.read_text())
    tree.body = [
        node for node in tree.body if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_room_calls_only_the_rooms_below_it(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    if path.name == "settings.py":
        return
    for name in imports(path):
        other = name.split(".")[0]
        if other in MAY_IMPORT and other != room:
            assert other in MAY_IMPORT[room], f"{room} may not import {name}: put this where {other}'s callers are"


@pytest.mark.parametrize("path", [p for p in FILES if kind_of(p) in LAYERS], ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_knows_nothing_of_those_above_it(path: Path) -> None:
    for name in imports(path):
        parts = name.split(".")
        for layer in parts[1:] if parts[0] in MAY_IMPORT else ():
            if layer in LAYERS:
                assert LAYERS[layer] <= LAYERS[kind_of(path)], f"{kind_of(path)} may not call {name}"


def test_no_file_is_a_drawer_for_everything() -> None:
    names = {path.name for path in FILES}
    assert not names & {"utils.py", "helpers.py", "managers.py", "signals.py"}


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if kind_of(p) in {"queries", "operations", "models", "errors"}],
    ids=lambda p: str(p.relative_to(ROOT)),
)
def test_what_is_below_the_views_knows_no_request(path: Path) -> None:
    allowed = {"django.conf", "django.core", "django.contrib.auth", "django.template", "django.urls", "django.utils"}
    for name in imports(path):
        if name.startswith("django.") and not name.startswith("django.db"):
            assert any(name.startswith(prefix) for prefix in allowed), f"{path.name} imports {name}"


def test_only_the_rendering_knows_htmx() -> None:
    for path in FILES:
        if kind_of(path) == "views":
            code = ast.unparse(ast.parse(path.read_text()))
            assert not re.search(r"request\.htmx|HX[-_]|django_htmx", code), f"{path}: leave htmx to web.rendering"
