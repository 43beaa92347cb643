"""What every page's frame shows of the shop."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from catalogue import queries


def shop(request: HttpRequest) -> dict[str, object]:
    """Return the categories of the navigation, and whether this is a showroom."""
    return {"nav_categories": SimpleLazyObject(queries.root_categories), "debug_showroom": settings.SHOWROOM}
