"""What every page's frame shows of the shop."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from catalogue import queries


def shop_context(request: HttpRequest) -> dict[str, object]:
    """Return the categories of the navigation, whether this is a demo shop, and whether the browser remembers what was looked at."""
    return {
        "nav_categories": SimpleLazyObject(queries.list_root_categories),
        "debug_showroom": settings.DEMO,
        "viewed_any": settings.VIEWED_COOKIE_NAME in request.COOKIES,
    }
