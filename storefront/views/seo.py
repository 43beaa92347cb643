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
from catalogue import queries
from catalogue.brand_files import icon_url
from catalogue.entities import CategoryNode
from shop_settings.brand import get_brand
from storefront import feeds, sitemap
from storefront.structured_data import absolute_url
from text_pages.queries import list_live_pages
from web.decorators import public
from web.rendering import without_header

NOT_FOR_ROBOTS = (
    "/account/",
    "/cart/",
    "/checkout/",
    "/demo/",
    "/o/",
    "/orders/",
    "/search",
    "/staff/",
    "/testbank/",
    "/viewed/",
    "/carts/",
)


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
    if name not in feeds.CONTENT_TYPES:
        raise Http404("no such feed")
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
    return HttpResponse(feeds.render_new_products(), content_type="application/atom+xml")


@require_safe
@conditional_page
@without_header
@public
def llms(request: HttpRequest) -> HttpResponse:
    """Describe the shop to language models, by the convention of https://llmstxt.org/."""
    nodes = queries.get_category_tree().nodes
    sections = {
        _("Products"): [
            *((" › ".join(each.name for each in node.path), _category(node)) for node in nodes),
            (_("New arrivals"), reverse("new_arrivals")),
            (_("Deals"), reverse("deals")),
        ],
        _("Help"): [(each.title, each.get_absolute_url()) for each in list_live_pages()],
        _("Feeds"): [
            (_("All products with price and stock"), reverse("feed", args=(feeds.GOOGLE_XML,))),
            (_("New products"), reverse("new_products")),
            (_("Sitemap"), reverse("sitemap")),
        ],
    }
    brand = get_brand()
    lines = [f"# {_escape(brand.name)}", "", f"> {_escape(brand.tagline)}"]
    for title, links in sections.items():
        lines += ["", f"## {title}", ""]
        lines += [f"- [{_escape(name)}]({absolute_url(address)})" for name, address in links]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


def _category(node: CategoryNode) -> str:
    return reverse("category", args=(node.slug,))


def _escape(text: str) -> str:
    """Return a text for a line of Markdown: it ends no link and begins no other one."""
    return re.sub(r"[\\\[\]<>]", r"\\\g<0>", " ".join(text.split()))


@require_safe
@without_header
@public
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for pages that do not name it."""
    return redirect(icon_url(get_brand()))
