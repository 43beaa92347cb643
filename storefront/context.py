"""The context processors for every page: the shop's values, and the visitor's values."""

from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest

from catalogue import queries
from shop_settings.brand import get_brand
from storefront.structured_data import absolute_url
from storefront.whole_pages import is_drawn_for_all, list_blanks


def shop_context(request: HttpRequest) -> dict[str, object]:
    """Return the shop's values for the head and the frame of a page.

    `canonical` is the address for search engines. It has no parameters: parameters only sort, extend or choose.
    """
    return {
        "canonical": absolute_url(request.path),
        "page_description": lambda: get_brand().tagline,
        "nav_categories": queries.list_menu,
        "is_demo": settings.DEMO,
        "viewed_any": settings.VIEWED_COOKIE_NAME in request.COOKIES,
    }


def visitor_context(request: HttpRequest) -> dict[str, object]:
    """Return a page's address and an idempotency key for its forms. A page drawn for all visitors gets the blanks of `list_blanks`."""
    if is_drawn_for_all(request):
        return list_blanks()
    return {"page_address": request.get_full_path, "form_key": uuid4}
