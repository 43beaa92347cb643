"""What every page's frame shows of the shop, and what differs for each of its visitors."""

from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest

from catalogue import queries
from storefront.fragments import SHOP_DESCRIPTION
from storefront.structured_data import absolute_url
from storefront.whole_pages import is_drawn_for_all, list_blanks


def shop_context(request: HttpRequest) -> dict[str, object]:
    """Return what the head and the frame of a page say of the shop.

    `canonical` is the address under which a page is indexed: without parameters, which only sort, lengthen or choose.
    """
    return {
        "canonical": absolute_url(request.path),
        "page_description": SHOP_DESCRIPTION,
        "nav_categories": queries.list_menu,
        "debug_showroom": settings.DEMO,
        "viewed_any": settings.VIEWED_COOKIE_NAME in request.COOKIES,
    }


def visitor_context(request: HttpRequest) -> dict[str, object]:
    """Return the page's address and an idempotency key; blanks for them and for the CSRF token, where a page is drawn for all."""
    if is_drawn_for_all(request):
        return list_blanks()
    return {"page_address": request.get_full_path, "form_key": uuid4}
