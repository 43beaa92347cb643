"""The pages of text: help, delivery, privacy, terms and more."""

from contextlib import suppress
from datetime import date

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import localdate
from django.views.decorators.http import require_safe

from cassandra_db import current_time
from payments.gateways import list_enabled_methods
from shop_settings.queries import get_settings_revision
from storefront.fragments import ShownText
from storefront.whole_pages import whole_page
from text_pages.errors import NoSuchPageVersion
from text_pages.pages import TERMS_PAGE, PageHead
from text_pages.queries import find_live_page, get_page_version, get_terms_version
from web.decorators import public
from web.rendering import render_page


@require_safe
@whole_page()
@public
def text_page(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the version of a page that is live. A former address of the page is redirected."""
    found = find_live_page(slug)
    if found is None:
        raise Http404
    page, live = found
    if live.slug != slug:
        return redirect(live, permanent=True)
    context = {"text_page": _show(page.key, live, localdate())}
    return render_page(request, "text_pages/page.html", context)


@require_safe
@public
def terms_version(request: HttpRequest, number: int) -> HttpResponse:
    """Show a version of the terms as it read on the day `on`, for an order that was placed then; without a day, as it is now."""
    try:
        version = get_page_version(TERMS_PAGE, number)
    except NoSuchPageVersion as error:
        raise Http404 from error
    if version.head.live_from > (now := current_time()):
        raise Http404
    day, today = None, localdate(now)
    with suppress(ValueError):
        # The terms of coming days are still secret, and the version is no older than its first day.
        asked = date.fromisoformat(request.GET.get("on", ""))
        day = min(max(asked, localdate(version.head.live_from)), today)
    is_earlier = day is not None and day < today
    context = {
        "text_page": _show(TERMS_PAGE, version.head, day or today),
        "is_version": True,
        "is_former": is_earlier or number != get_terms_version(now),
        "is_earlier": is_earlier,
        "day": day,
    }
    return render_page(request, "text_pages/page.html", context)


def _show(key: str, head: PageHead, day: date) -> ShownText:
    return ShownText(get_settings_revision(), day, key, head, list_enabled_methods())
