"""The front page, categories, pictures, and pages of text."""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache, partial
from hashlib import blake2b
from http import HTTPStatus
from pathlib import Path
from typing import Any, cast

from django.conf import settings
from django.contrib import messages
from django.core.files.storage import default_storage
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseNotFound,
    HttpResponseNotModified,
)
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.dateparse import parse_datetime
from django.utils.timezone import is_naive, localdate, make_aware
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import has_permission
from accounts.models import User
from adminpanel.side_bar import get_side_bar
from analytics.events import NotedEvent
from cassandra_db import current_time
from catalogue import queries, search
from catalogue.entities import CategoryNode
from catalogue.errors import ShareImageBusy
from catalogue.filtered_lists import CATEGORY_SORTS, category_scope
from catalogue.front_page import list_blocks, with_link_url
from catalogue.photos import FOLDER, find_content_type
from catalogue.pictures import NoSuchPicture, draw_picture, draw_sheet, split_sheet
from catalogue.search_index import SearchIndexMissing
from catalogue.share_images import SECONDS_EACH, read_share_image
from shop_settings.queries import get_settings_revision, prefetch_settings
from storefront import recently_viewed
from storefront.card_lists import list_url
from storefront.fragments import CategoryHead, CategoryTop, FrontPage, FrontPageHead
from storefront.front_blocks import lead
from storefront.list_filters import FILTER_PARAMETERS
from storefront.media import CACHE_CONTROL
from storefront.product_lists import EmptyList, ListPart, ProductList, render_list
from storefront.whole_pages import whole_page
from web.decorators import get_or_post, owner_only, public
from web.rendering import render_page, without_header


@require_safe
@whole_page(unless=("at",))
@public
def home(request: HttpRequest) -> HttpResponse:
    """Show the front page; to its staff, with `?at=`, as it will look at that time."""
    queries.prefetch_categories()
    prefetch_settings()
    now = current_time()
    shown_at = _find_preview_time(request) or now
    # All blocks begin their reads before the first one waits.
    begun = [
        (kind.template, block, kind.start(block, shown_at)) for block, kind in list_blocks(shown_at)
    ]
    found = ((template, with_link_url(block), collect()) for template, block, collect in begun)
    context = {
        "front_page_head": FrontPageHead(get_settings_revision(), localdate(now)),
        "front_page": FrontPage(tuple(lead(each for each in found if each[2] is not None))),
        "preview_at": shown_at if shown_at is not now else None,
    }
    return render_page(request, "storefront/home.html", context)


def _find_preview_time(request: HttpRequest) -> datetime | None:
    """Return the time of a staff's preview; None for all others."""
    if "at" not in request.GET or not get_side_bar(request).groups:
        return None
    if not has_permission(cast(User, request.user), "adminpanel.front_page"):
        return None
    try:
        typed = parse_datetime(request.GET["at"])
    except ValueError:
        return None
    return make_aware(typed) if typed and is_naive(typed) else typed


@require_safe
@whole_page("sort", "after", "show", unless=FILTER_PARAMETERS)
@public
def category(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the page of a category with a part of its product list."""
    node = queries.find_category_by_slug(slug)
    if node is None:
        return _former_category(request, slug)
    default = queries.default_sort(node)
    sort = request.GET.get("sort", default)
    if sort not in dict(queries.sort_labels(node)):
        return redirect("category", slug)
    find_cards = partial(_find_cards, node, sort)
    listing = ProductList(
        f"category {node.category_id}",
        reverse("category", args=(node.slug,)),
        partial(category_scope, node),
        CATEGORY_SORTS | {queries.FEATURED_SORT: CATEGORY_SORTS[node.order.rule]},
        queries.sort_labels(node),
        sort,
        default,
        EmptyList(
            _("No products here yet"),
            _(
                "We’re still choosing what to sell in this category. Take a look at the others in the meantime."
            ),
            reverse("home"),
            _("Browse products"),
        ),
        find_cards,
        find_cards,
        node.order.pinned_ids if sort == queries.FEATURED_SORT else (),
    )
    return render_list(
        request,
        listing,
        "storefront/category.html",
        lambda _part, _selection: _category_context(node),
        lambda _part: NotedEvent("category", category_id=node.category_id),
    )


def _find_cards(node: CategoryNode, sort: str, token: str, limit: int) -> ListPart:
    """Return a part of a category's list without any filter (Q2)."""
    found = queries.get_category_page(node.category_id, sort, token, limit)
    return ListPart(found.cards, _count_products(node), found.next_token)


def _former_category(request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect from a category's former address."""
    is_known, node = queries.find_former_category(slug)
    if not is_known:
        raise Http404
    if node is None:
        return render_page(
            request, "errors/410.html", {"is_category": True}, status=HTTPStatus.GONE
        )
    address = reverse("category", args=(node.slug,))
    return redirect(list_url(address, sort=request.GET.get("sort", "")), permanent=True)


def _category_context(node: CategoryNode) -> dict[str, Any]:
    children = tuple(each.menu_entry for each in node.children)
    trail = tuple((each.name, each.slug) for each in node.ancestors)
    return {
        "category": node,
        "category_head": CategoryHead(trail, node.name, node.slug, node.description, node.picture),
        "category_top": CategoryTop(node.name, node.description, children),
        "nav_current": node.path[0].slug,
        "ancestors": node.ancestors,
        **({"page_description": node.description} if node.description else {}),
    }


def _count_products(node: CategoryNode) -> int | None:
    """Return the number of products in a category's list; None if it is not known yet."""
    try:
        return search.count_on_sale_in(node)
    except SearchIndexMissing:
        return None


@require_safe
@owner_only
def viewed_products(request: HttpRequest) -> HttpResponse:
    """Show the products that this browser has viewed, without the one that the address names."""
    without = request.GET.get("without", "")
    viewed_ids = recently_viewed.list_viewed_product_ids(request)
    others = [each for each in viewed_ids if str(each) != without]
    context = {"viewed": recently_viewed.list_viewed_products(others)}
    return render_page(request, "storefront/viewed.html", context, part="strip")


@get_or_post
@owner_only
def forget_viewed_products(request: HttpRequest) -> HttpResponse:
    """Forget the products that this browser has viewed."""
    response = redirect("viewed")
    if request.method == "POST":
        recently_viewed.forget_viewed(response)
        messages.success(request, _("Your recently viewed products have been cleared."))
    return response


@require_safe
@without_header
@public
def picture(request: HttpRequest, shape: str, colours: str) -> HttpResponse:
    """Draw a variant's picture, which its address determines."""
    return _drawing_answer(request, _drawing, shape, colours)


@require_safe
@without_header
@public
def picture_sheet(request: HttpRequest, pictures: str) -> HttpResponse:
    """Draw several pictures in one file, which its address determines."""
    return _drawing_answer(request, _sheet, pictures)


def _drawing_answer(
    request: HttpRequest, draw: Callable[..., tuple[bytes, str]], *words: str
) -> HttpResponse:
    try:
        drawing, etag = draw(*words)
    except NoSuchPicture as error:
        raise Http404 from error
    known = etag in request.headers.get("If-None-Match", "")
    answer = (
        HttpResponseNotModified() if known else HttpResponse(drawing, content_type="image/svg+xml")
    )
    answer["ETag"] = etag
    answer["Cache-Control"] = CACHE_CONTROL
    # Also for 304, since the picture may be compressed.
    patch_vary_headers(answer, ["Accept-Encoding"])
    return answer


@require_safe
@without_header
@public
def share_image(request: HttpRequest, key: str, shape: str = "", colours: str = "") -> HttpResponse:
    """Serve a drawing, or the shop's own picture, as a JPEG for other sites."""
    try:
        content = read_share_image(shape, colours, key)
    except NoSuchPicture as error:
        raise Http404 from error
    except ShareImageBusy:
        return HttpResponse(
            status=HTTPStatus.SERVICE_UNAVAILABLE, headers={"Retry-After": str(SECONDS_EACH)}
        )
    answer = HttpResponse(content, content_type="image/jpeg")
    answer["Cache-Control"] = CACHE_CONTROL
    return answer


@require_safe
@without_header
@public
def photo(request: HttpRequest, digest: str, name: str) -> HttpResponse:
    """Serve a file of an uploaded picture, which never changes; a placeholder if it is missing."""
    content_type = find_content_type(digest, name)
    if not content_type or settings.MEDIA_HOST:
        raise Http404
    try:
        with default_storage.open(f"{FOLDER}/{digest}/{name}") as stored:
            content = stored.read()
    except OSError:
        # Browsers show the placeholder in spite of the status, and do not cache it.
        return HttpResponseNotFound(_no_picture(), content_type="image/svg+xml")
    answer = HttpResponse(content, content_type=content_type)
    answer["Content-Disposition"] = f'inline; filename="{digest}-{name}"'
    answer["Cache-Control"] = CACHE_CONTROL
    # Opened as a page, the file can do nothing, whatever it contains (S83).
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return answer


@lru_cache(maxsize=1)
def _no_picture() -> bytes:
    return Path(settings.BASE_DIR, "static", "icons", "no-picture.svg").read_bytes()


@lru_cache(maxsize=1024)
def _drawing(shape: str, colours: str) -> tuple[bytes, str]:
    return _tagged(draw_picture(shape, tuple(colours.split("-"))))


@lru_cache(maxsize=64)
def _sheet(pictures: str) -> tuple[bytes, str]:
    return _tagged(draw_sheet(split_sheet(pictures)))


def _tagged(drawing: str) -> tuple[bytes, str]:
    """Return a drawing and its ETag, a weak one because compression keeps the drawing."""
    content = drawing.encode()
    return content, f'W/"{blake2b(content, digest_size=8).hexdigest()}"'
