"""Sections that apps above this one add to a product's page: an app has them in its module `product_sections`.

Its `prefetch_section(product_id, slug)` starts the reads, and returns a function that returns the section's HTML, or "".
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from types import ModuleType
from uuid import UUID

from django.apps import apps
from django.utils.module_loading import module_has_submodule


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(
        import_module(f"{app.name}.product_sections")
        for app in apps.get_app_configs()
        if app.module is not None and module_has_submodule(app.module, "product_sections")
    )


def prefetch_sections(product_id: UUID, slug: str) -> list[Callable[[], str]]:
    """Start reading all sections of a product's page; return the functions that return their HTML. Raises CassandraUnavailable."""
    return [module.prefetch_section(product_id, slug) for module in _modules()]
