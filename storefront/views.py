"""The shop window: front page, shelves, products, search, and what stands beside them."""

import re
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import blake2b
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import reverse
from django.utils.http import quote_etag
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from cart.destination import destination
from cart.forms import add_form
from cassandra_db import page_key, page_token
from cassandra_db.errors import BadPageToken, CassandraUnavailable
from catalogue import pictures, queries, search
from catalogue.entities import CardPage, CategoryNode, Product
from inventory.queries import stock_in, stock_started
from pricing.tax import added_in
from promotions.queries import offers, promotions_ahead
from storefront import choices, sitemap, structured, viewed
from storefront.delivery import delivery_rows, usual_delivery_rows, weight_rows
from web.limits import attempted_here
from web.methods import get_or_post, own, public
from web.rendering import page, without_header

LONGEST_QUERY = 100
# "Load more" ten times, and the list can still be opened as a whole.
LONGEST_LIST = 10 * queries.PAGE_LENGTH
SKU = re.compile(r"[A-Z0-9][A-Z0-9._-]{2,63}")
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
@public
def home(request: HttpRequest) -> HttpResponse:
    """Show the front page."""
    reading = {name: queries.featured_started(name) for name in ("new_arrivals", "deals", "featured")}
    queries.categories_ahead()
    promotions_ahead()
    rows: dict[str, Any] = {name: [queries.card_in(row) for row in each.rows()] for name, each in reading.items()}
    tiles = [child for root in queries.root_categories() for child in root.children or [root]]
    context = {"tiles": tiles, "offers": offers(datetime.now(UTC)), "canonical": structured.absolute("/")}
    return page(request, "storefront/home.html", rows | context)


@require_safe
@public
def category(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a part of a category's list."""
    node = queries.category_by_slug(slug)
    if node is None:
        raise Http404
    sort = request.GET.get("sort", "newest")
    if sort not in queries.SORTS:
        return redirect("category", slug)
    after, shown = request.GET.get("after", ""), _shown(request)
    try:
        cards = queries.category_page(node.category_id, sort, after, queries.PAGE_LENGTH if after else shown)
    except BadPageToken as error:
        raise Http404 from error
    context = _category_context(node, sort, cards, shown) | {"after": after}
    if not after:
        return page(request, "storefront/category.html", context)
    address = _list_url(request.path, sort=sort, show=str(shown))
    return page(request, "storefront/category.html", context, part="more", address=address)


def _shown(request: HttpRequest) -> int:
    """Return how many cards the list has, or will have with this part: what Back and Reload bring again (X4)."""
    asked = request.GET.get("show", "")
    number = int(asked) if asked.isascii() and asked.isdigit() and len(asked) < 5 else 0
    return max(queries.PAGE_LENGTH, min(number, LONGEST_LIST))


def _category_context(node: CategoryNode, sort: str, cards: CardPage, shown: int) -> dict[str, Any]:
    url = reverse("category", args=(node.slug,))
    data = structured.breadcrumb_data(node.ancestors, node.name, url)
    return {
        "category": node,
        "category_url": url,
        "nav_current": [*node.ancestors, node][0].slug,
        "ancestors": node.ancestors,
        "children": node.children,
        "cards": cards.cards,
        "sort": sort,
        "sorts": queries.SORT_LABELS,
        "next_url": _next_url(url, shown, sort=sort, after=cards.next) if cards.next else "",
        "canonical": structured.absolute(url),
        "json_ld": structured.script(data),
    }


def _next_url(url: str, shown: int, **params: str) -> str:
    return _list_url(url, **params, show=str(shown + queries.PAGE_LENGTH))


def _list_url(url: str, **params: str) -> str:
    if params.get("sort") == "newest":
        del params["sort"]
    if params.get("show") == str(queries.PAGE_LENGTH):
        del params["show"]
    told = {name: value for name, value in params.items() if value}
    return f"{url}?{urlencode(told)}" if told else url


@require_safe
@public
def product(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a product in the variant that the address names."""
    queries.categories_ahead()
    promotions_ahead()
    product_id = queries.product_id_by_slug(slug)
    if product_id is None:
        raise Http404
    reading = queries.product_started(product_id), stock_started(product_id), queries.related_started(product_id)
    found = queries.product_in(reading[0].rows())
    if found is None:
        raise Http404
    if found.slug != slug:
        address = reverse("product", args=(found.slug,))
        return redirect(_list_url(address, variant=request.GET.get("variant", "")), permanent=True)
    trail = _trail(found)
    if not found.active:
        context = {"product": found, "ancestors": trail}
        return page(request, "errors/410.html", context, status=HTTPStatus.GONE)
    stock = stock_in(reading[1].rows())
    asked = request.GET.get("variant", "")
    chosen, as_asked = choices.chosen(found, stock, asked)
    url = reverse("product", args=(slug,))
    context = {
        "product": found,
        "chosen": chosen,
        "chosen_alt": f"{found.name}, {chosen.label}" if chosen.label else found.name,
        "unknown_variant": bool(asked) and not as_asked,
        "choices": choices.choices(found, chosen.variant, stock),
        "pictures": choices.looks(found, chosen.variant),
        "add_form": add_form(chosen.sku),
        "delivery_rows": usual_delivery_rows(destination(request)),
        "tax_added": destination(request) in added_in(),
        "offers": offers(datetime.now(UTC), found.category_id),
        "related": [queries.card_in(row) for row in reading[2].rows()],
        "ancestors": trail,
        "nav_current": trail[0].slug if trail else "",
        "canonical": structured.absolute(url),
        "json_ld": structured.script(
            structured.product_data(found, stock), structured.breadcrumb_data(trail, found.name, url)
        ),
    }
    context["viewed_any"] = any(each != product_id for each in viewed.viewed_in(request))
    response = page(request, "storefront/product.html", context, part="chosen")
    viewed.viewed_remembered(request, response, product_id)
    return response


def _trail(found: Product) -> list[CategoryNode]:
    node = queries.categories().by_id.get(found.category_id)
    return [*node.ancestors, node] if node else []


@require_safe
@never_cache
@own
def viewed_page(request: HttpRequest) -> HttpResponse:
    """Show what this browser has looked at lately, without the product that the address names."""
    without = request.GET.get("without", "")
    ids = [each for each in viewed.viewed_in(request) if str(each) != without]
    return page(request, "storefront/viewed.html", {"viewed": viewed.viewed(ids)}, part="strip")


@get_or_post
@own
def viewed_forget(request: HttpRequest) -> HttpResponse:
    """Forget what this browser has looked at."""
    response = redirect("viewed")
    if request.method == "POST":
        viewed.viewed_forgotten(response)
        messages.success(request, "Forgotten.")
    return response


@require_safe
@public
def search_page(request: HttpRequest) -> HttpResponse:
    """Show what was found for the words asked for; a SKU leads straight to its product."""
    query = " ".join(request.GET.get("q", "").replace("\0", "").split())[:LONGEST_QUERY]
    queries.categories_ahead()
    if (sku := _sku_in(query)) and (address := _address_of(sku)):
        return redirect(address)
    sort = request.GET.get("sort", "best")
    if sort not in search.SORTS:
        return redirect(_list_url(reverse("search"), q=query))
    try:
        offset, shown = _offset(request.GET.get("after", ""), query, sort), _shown(request)
        context = _search_context(query, sort, offset, shown)
    except BadPageToken as error:
        raise Http404 from error
    if not offset:
        return page(request, "storefront/search.html", context)
    told = "" if sort == "best" else sort
    address = _list_url(request.path, q=query, sort=told, show=str(shown))
    return page(request, "storefront/search.html", context, part="more", address=address)


def _search_context(query: str, sort: str, offset: int, show: int) -> dict[str, Any]:
    context: dict[str, Any] = {"query": query, "sort": sort, "sorts": search.SORT_LABELS, "after": offset}
    try:
        found = search.search(query, queries.PAGE_LENGTH if offset else show, offset, sort)
        near = search.near_queries(query) if query and not found.total else []
    except search.NoIndex:
        return context | {"cards": queries.cards_by_prefix(query)}
    shown = offset + len(found.cards)
    more = found.cards and shown < min(found.total, search.DEEPEST)
    token = page_token([shown], _search_list(query, sort)) if more else ""
    told = "" if sort == "best" else sort
    next_url = _next_url(reverse("search"), show, q=query, sort=told, after=token) if more else ""
    return context | {"cards": found.cards, "total": found.total, "near": near, "next_url": next_url}


def _search_list(query: str, sort: str) -> str:
    return f"Q3 {sort} {query}"


def _offset(token: str, query: str, sort: str) -> int:
    return int(page_key(token, _search_list(query, sort))[0]) if token else 0


def _sku_in(query: str) -> str:
    """A query that may be a SKU, as it would be written: without blanks, in capitals."""
    sku = query.replace(" ", "-").upper()
    return sku if SKU.fullmatch(sku) and any(letter.isdigit() or letter == "-" for letter in sku) else ""


def _address_of(sku: str) -> str:
    row = queries.variant_by_sku(sku)
    found = queries.product(row.product_id) if row else None
    variant = found.variant(row.variant_id) if row and found and found.active else None
    return choices.variant_url(found, variant) if found and variant and variant.sold else ""


@require_safe
@without_header
@public
def suggest(request: HttpRequest) -> HttpResponse:
    """Show the products that a typed beginning may mean."""
    attempted_here(request, "suggestions")
    typed = request.GET.get("q", "").replace("\0", "")[:LONGEST_QUERY]
    found = queries.suggestions(typed)
    return page(request, "storefront/suggest.html", {"suggestions": found, "query": typed}, part="options")


@require_safe
@without_header
@public
def picture(request: HttpRequest, shape: str, colours: str) -> HttpResponse:
    """Draw a variant's picture. The same address always gives the same picture."""
    try:
        drawing, etag = _drawing(shape, colours)
    except pictures.UnknownPicture as error:
        raise Http404 from error
    known = etag in request.headers.get("If-None-Match", "")
    answer = HttpResponseNotModified() if known else HttpResponse(drawing, content_type="image/svg+xml")
    answer["ETag"] = etag
    answer["Cache-Control"] = "public, max-age=31536000, immutable"
    return answer


@lru_cache(maxsize=1024)
def _drawing(shape: str, colours: str) -> tuple[bytes, str]:
    drawing = pictures.draw(shape, tuple(colours.split("-"))).encode()
    return drawing, quote_etag(blake2b(drawing, digest_size=8).hexdigest())


@require_safe
@public
def help_page(request: HttpRequest) -> HttpResponse:
    """Answer what is often asked, and tell how to reach a person."""
    return page(request, "storefront/help.html", {})


@require_safe
@public
def delivery(request: HttpRequest) -> HttpResponse:
    """Tell what delivery costs, and how things come back."""
    return page(request, "storefront/delivery.html", {"delivery_rows": delivery_rows(), "weights": weight_rows()})


@require_safe
@public
def privacy(request: HttpRequest) -> HttpResponse:
    """Tell what is kept of a shopper."""
    return page(request, "storefront/privacy.html", {})


@require_safe
@public
def imprint(request: HttpRequest) -> HttpResponse:
    """Tell whose shop this is, and its terms."""
    return page(request, "storefront/imprint.html", {})


@require_safe
@without_header
@public
def sitemap_xml(request: HttpRequest, number: int = 0) -> HttpResponse:
    """Hand out a file of the sitemap."""
    # An index names at most so many files, and no file has a longer name.
    file = sitemap.sitemap_file(number) if number <= sitemap.MOST_ADDRESSES else None
    if file:
        return HttpResponse(file.read_bytes(), content_type="application/xml")
    if number:
        raise Http404
    return HttpResponse(sitemap.small_sitemap(), content_type="application/xml")


@require_safe
@without_header
@public
def robots(request: HttpRequest) -> HttpResponse:
    """Tell robots where there is nothing for them."""
    closed = "".join(f"Disallow: {place}\n" for place in NOT_FOR_ROBOTS)
    text = f"User-agent: *\n{closed}\nSitemap: {structured.absolute(reverse('sitemap'))}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")


@require_safe
@without_header
@public
def favicon(request: HttpRequest) -> HttpResponse:
    """Lead browsers that ask by habit to the icon, also from pages that name none."""
    return redirect(static("icons/favicon.svg"), permanent=True)


@require_safe
@without_header
@public
def healthz(request: HttpRequest) -> HttpResponse:
    """Tell that this process answers, whatever the database does."""
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@without_header
@public
def readyz(request: HttpRequest) -> HttpResponse:
    """Tell whether this process can serve pages: whether Cassandra answers it."""
    try:
        queries.answers()
    except CassandraUnavailable:
        return HttpResponse("Cassandra does not answer\n", content_type="text/plain", status=503)
    return HttpResponse("ready\n", content_type="text/plain")


@public
def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Show why a form was not taken: it was open for too long, or comes from elsewhere."""
    return page(request, "errors/403_csrf.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that a request made no sense."""
    return page(request, "errors/400.html", {}, status=HTTPStatus.BAD_REQUEST)


@public
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that this is not for everybody."""
    return page(request, "errors/403.html", {}, status=HTTPStatus.FORBIDDEN)


@public
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Show that there is nothing at an address."""
    return page(request, "errors/404.html", {}, status=HTTPStatus.NOT_FOUND)
