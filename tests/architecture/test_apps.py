"""The layers: who may import whom, and where a thing belongs."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from django.conf import settings

from tests.architecture.apps import APPS, FILES, LAYERS, ROOT, VIEWS, module_kind, relative_path
from tests.rules import for_each

LAYERED = [path for path in FILES if module_kind(path) in LAYERS]
LIFECYCLE = [path for path in FILES if path.parent.name == "lifecycle"]
BELOW_VIEWS = [
    path for path in FILES if module_kind(path) in {"queries", "operations", "models", "errors"}
]


@cache
def imports(path: Path) -> list[str]:
    """Return all that a file imports, but for its types alone."""
    tree = ast.parse(path.read_text())
    tree.body = [
        node
        for node in tree.body
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
    ]
    return [name for node in ast.walk(tree) for name in _imported(node)]


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_imports_are_found() -> None:
    assert sum(len(imports(path)) for path in FILES) > 6500


def test_the_contract_of_imports_names_every_app() -> None:
    """What it does not name may import what it likes."""
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")} - {"tests"}
    # The first contract is about the apps.
    layers = contract["contracts"][0]["layers"]
    assert set(contract["root_packages"]) == set(layers) == packages
    assert set(settings.INSTALLED_APPS) & packages <= set(layers)


def test_imports_go_down() -> None:
    """The contract itself, as `make lint` holds it: a file that breaks it is found by the suite, too."""
    done = subprocess.run(
        [Path(sys.executable).with_name("lint-imports"), "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]


@for_each(LAYERED, relative_path, at_least=140)
def test_a_file_knows_nothing_of_those_above_it(path: Path) -> None:
    for name in imports(path):
        parts = name.split(".")
        for layer in parts[1:] if parts[0] in APPS else ():
            if layer in LAYERS:
                assert LAYERS[layer] <= LAYERS[module_kind(path)], (
                    f"{module_kind(path)} may not call {name}"
                )


@for_each(FILES, relative_path, at_least=320)
def test_no_file_is_a_drawer_for_everything(path: Path) -> None:
    assert path.name not in {"utils.py", "helpers.py", "managers.py", "signals.py"}


@for_each(BELOW_VIEWS, relative_path, at_least=85)
def test_what_is_below_the_views_knows_no_request(path: Path) -> None:
    allowed = {
        "django.conf",
        "django.core",
        "django.contrib.auth",
        "django.template",
        "django.urls",
        "django.utils",
    }
    for name in imports(path):
        if name.startswith("django.") and not name.startswith("django.db"):
            assert any(name.startswith(prefix) for prefix in allowed), f"{path.name} imports {name}"


@for_each(LIFECYCLE, relative_path, at_least=13)
def test_the_lifecycle_of_orders_is_pure(path: Path) -> None:
    """Neither Cassandra nor the shop's settings: what an order needs of them is given to it when it is built."""
    for name in imports(path):
        parts = name.split(".")
        assert not {"cassandra_db", "shop_settings", "queries", "operations"} & set(parts), name
        assert not name.startswith("django.conf"), name


@for_each(VIEWS, relative_path, at_least=30)
def test_only_the_rendering_knows_htmx(path: Path) -> None:
    code = ast.unparse(ast.parse(path.read_text()))
    assert not re.search(r"request\.htmx|HX[-_]|django_htmx", code), "leave htmx to web.rendering"


@for_each(VIEWS, relative_path, at_least=30)
def test_no_module_of_views_is_a_library_of_another(path: Path) -> None:
    others = [
        name for name in imports(path) if re.match(rf"({'|'.join(APPS)})\.(\w+\.)*views\.", name)
    ]
    assert not others, f"{others}: put what both need into a module that is named by what it is"
