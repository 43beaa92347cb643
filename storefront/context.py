"""What every page's frame shows of the shop, and what differs for each of its visitors."""

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
    """Return what the head and the frame of a page say of the shop.

    `canonical` is the address under which a page is indexed: without parameters, which only sort, lengthen or choose.
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
    """Return the page's address and an idempotency key; blanks for them and for the CSRF token, where a page is drawn for all."""
    if is_drawn_for_all(request):
        return list_blanks()
    return {"page_address": request.get_full_path, "form_key": uuid4}
