"""The context of every page's frame: values of the shop, and values of the visitor."""

from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy

from catalogue import queries
from storefront.structured_data import SITE_NAME, absolute_url
from storefront.whole_pages import is_drawn_for_all, list_blanks

_DESCRIPTION = gettext_lazy(
    "Well-made things for everyday life: for your kitchen, home, wardrobe and desk."
)


def shop_context(request: HttpRequest) -> dict[str, object]:
    """Return the shop's values for the head and the frame of a page.

    `canonical` is the address for search engines: without parameters, which only sort, extend or choose.
    """
    return {
        "canonical": absolute_url(request.path),
        "site_name": SITE_NAME,
        "page_description": _DESCRIPTION,
        "nav_categories": queries.list_menu,
        "debug_showroom": settings.DEMO,
        "viewed_any": settings.VIEWED_COOKIE_NAME in request.COOKIES,
    }


def visitor_context(request: HttpRequest) -> dict[str, object]:
    """Return the page's address and an idempotency key, or blanks for them and the CSRF token if the page is drawn for all."""
    if is_drawn_for_all(request):
        return list_blanks()
    return {"page_address": request.get_full_path, "form_key": uuid4}
