"""What apps and folders named in the settings add to the shop's pages (docs/extending.md): templates and stylesheets."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.checks import CheckMessage, Error

from web import templates
from web.app_modules import find_app_modules


class Loader(templates.Loader):
    """Loads the templates that come before the shop's own: those of TEMPLATE_FOLDERS, then those of EXTRA_APPS."""

    def get_dirs(self) -> list[str | Path]:
        """Return the folders in which templates are looked for."""
        configs = [each for each in apps.get_app_configs() if each.name in settings.EXTRA_APPS]
        return [*settings.TEMPLATE_FOLDERS, *(Path(each.path) / "templates" for each in configs)]


def list_stylesheets() -> list[str]:
    """Return the static files that apps name in STYLESHEETS of their `stylesheets.py`."""
    modules = find_app_modules("stylesheets").values()
    return [each for module in modules for each in module.STYLESHEETS]


def check_extensions(**_: Any) -> list[CheckMessage]:
    """Return an error for each folder and each stylesheet that is named and not there: every page would lack it."""
    return [
        Error(f"{each} is not there.", hint="docs/extending.md", id="web.E010")
        for each in _iterate_missing()
    ]


def _iterate_missing() -> Iterator[str]:
    yield from (
        f"The folder {each} (TEMPLATE_FOLDERS)"
        for each in settings.TEMPLATE_FOLDERS
        if not each.is_dir()
    )
    yield from (f"The stylesheet {each}" for each in list_stylesheets() if not finders.find(each))
