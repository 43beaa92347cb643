"""Pages for robots and browsers: sitemap, robots.txt and the icon."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_safe

from catalogue.brand_files import icon_url
from shop_settings.brand import get_brand
from storefront import sitemap, structured_data
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
    text = f"User-agent: *\n{closed}\nSitemap: {structured_data.absolute_url(reverse('sitemap'))}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
@without_header
@public
def favicon(request: HttpRequest) -> HttpResponse:
    """Redirect to the icon, for pages that do not name it."""
    return redirect(icon_url(get_brand()))
