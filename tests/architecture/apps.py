"""The apps of the project, and which may call which."""

import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]

# The apps, from the top down, as pyproject.toml's contract has them (`make lint` holds it); the benchmarks stand beside them.
APPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["root_packages"]
APPS.remove("benchmarks")
# Those that a real shop runs.
SHOP_APPS = [app for app in APPS if app not in {"devtools", "demo"}]

# Lower files know nothing of higher ones: urls -> views -> queries | operations -> models.
LAYERS = {
    "models": 0,
    "errors": 0,
    "queries": 1,
    "operations": 2,
    "forms": 2,
    "jobs": 3,
    "privacy": 3,
    "views": 3,
    "urls": 4,
}


def module_kind(path: Path) -> str:
    """Return what a file is: `views` for views.py, and for each file of a package views/."""
    return path.parent.name if path.parent.name in LAYERS else path.stem


FILES = sorted(path for app in APPS for path in (ROOT / app).rglob("*.py"))
VIEWS = [path for path in FILES if module_kind(path) == "views"]


def relative_path(path: Path) -> str:
    """Return a file's path within the repository."""
    return str(path.relative_to(ROOT))


def model_name(model: Any) -> str:
    """Return how a failed test names a model: by its module and class, since its table may have no name yet."""
    return f"{model.__module__}.{model.__name__}"


def list_modules(app: str) -> list[str]:
    """Return the dotted names of an app's modules, without its management commands and the studio, which needs Blender."""
    found = []
    for path in sorted((ROOT / app).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        if {"management", "studio"} & set(parts) or parts[-1] in {"settings", "wsgi"}:
            continue
        found.append(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
    return found
