"""Modules by which installed apps add to a mechanism below them, found by their name, as the worker finds each app's `jobs.py`."""

from importlib import import_module
from types import ModuleType

from django.apps import apps
from django.utils.module_loading import module_has_submodule


def find_app_modules(name: str) -> dict[str, ModuleType]:
    """Return the modules with this name of all installed apps that have one, keyed by app, in the order of INSTALLED_APPS."""
    return {
        app.name: import_module(f"{app.name}.{name}")
        for app in apps.get_app_configs()
        if app.module is not None and module_has_submodule(app.module, name)
    }
