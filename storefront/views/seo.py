"""Pages for robots and browsers: sitemap, feeds, robots.txt, llms.txt and the icon."""

import re
from datetime import UTC, datetime
from http import HTTPStatus
from typing import cast

from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import condition, conditional_page, require_safe

from cassandra_db import current_time
from catalogue.brand_files import icon_url
from catalogue.menu_links import ShownLink, list_suggested_addresses
from catalogue.old_addresses import PRIVATE
from shop_settings.brand import get_brand
from storefront import feeds, sitemap
from storefront.structured_data import absolute_url
from web.decorators import public
from web.rendering import without_header

NOT_FOR_ROBOTS = (*(f"/{name}/" for name in sorted(PRIVATE)), "/search", "/testbank/", "/viewed/")


@require_safe
@conditional_page
@without_header
@public
def sitemap_xml(request: HttpRequest, number: int = 0) -> HttpResponse:
    """Serve a file of the sitemap, or 304 if the client has it."""
    # An index names at most this many files.
    file = sitemap.find_sitemap_file(number) if number <= sitemap.MAX_SITEMAP_URLS else None
    if file:
        return HttpResponse(file.read_bytes(), content_type="application/xml")
    if number:
        raise Http404
    return HttpResponse(sitemap.render_small_sitemap(), content_type="application/xml")


@require_safe
@conditional_page
@without_header
@public
def robots(request: HttpRequest) -> HttpResponse:
    """Name the pages that are closed to robots."""
    closed = "".join(f"Disallow: {path}\n" for path in NOT_FOR_ROBOTS)
    text = f"User-agent: *\n{closed}\nSitemap: {absolute_url(reverse('sitemap'))}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _find_time(request: HttpRequest, name: str) -> datetime | None:
    file = feeds.find_feed(name, current_time())
    return datetime.fromtimestamp(file.stat().st_mtime, UTC) if file else None


@require_safe
@condition(last_modified_func=_find_time)
@without_header
@public
def feed(request: HttpRequest, name: str) -> HttpResponse:
    """Send a feed of products in pieces, or 304 if the client has it; 503 if no worker has written it for an hour."""
    file = feeds.find_feed(name, current_time())
    if file is None:
        return HttpResponse(status=HTTPStatus.SERVICE_UNAVAILABLE, headers={"Retry-After": "600"})
    response = FileResponse(file.open("rb"), content_type=feeds.CONTENT_TYPES[name])
    response["Cache-Control"] = f"public, max-age={feeds.CACHE_SECONDS}"
    return cast(HttpResponse, response)  # Django's two response classes share no type


@require_safe
@conditional_page
@without_header
@public
def new_products(request: HttpRequest) -> HttpResponse:
    """Show new products to readers of feeds."""
    text = feeds.render_new_products(current_time())
    return HttpResponse(text, content_type="application/atom+xml")


@require_safe
@conditional_page
@without_header
@public
def llms(request: HttpRequest) -> HttpResponse:
    """Describe the shop to language models, by the convention of https://llmstxt.org/."""
    brand = get_brand()
    links = [
        *(link for link in list_suggested_addresses() if not link.url.startswith(NOT_FOR_ROBOTS)),
        ShownLink(_("All products with price and stock"), reverse("google.xml")),
        ShownLink(_("New products"), reverse("new_products")),
        ShownLink(_("Sitemap"), reverse("sitemap")),
    ]
    lines = [f"# {_escape(brand.name)}", "", f"> {_escape(brand.tagline)}", "", "## " + _("Pages")]
    lines += ["", *(f"- [{_escape(each.label)}]({absolute_url(each.url)})" for each in links), ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")


def _escape(text: str) -> str:
    """Return a text for a line of Markdown: it ends no link and begins no other one."""
    return re.sub(r"[\\\[\]<>]", r"\\\g<0>", " ".join(text.split()))


@require_safe
@without_header
@public
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for pages that do not name it."""
    return redirect(icon_url(get_brand()))
