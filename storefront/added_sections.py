"""Sections that apps above this one add to a product's page: an app has them in its module `product_sections`.

Its `prefetch_section(product_id, slug)` starts the reads, and returns a function that returns the section's HTML, or "".
"""

from collections.abc import Callable
from functools import cache
from types import ModuleType
from uuid import UUID

from web.app_modules import find_app_modules


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(find_app_modules("product_sections").values())


def prefetch_sections(product_id: UUID, slug: str) -> list[Callable[[], str]]:
    """Start reading all sections of a product's page; return the functions that return their HTML. Raises CassandraUnavailable."""
    return [module.prefetch_section(product_id, slug) for module in _modules()]
