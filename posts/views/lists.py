"""Lists of posts: the newest and the popular ones, those with a tag, and those that show a product."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalogue.queries import prefetch_categories, prefetch_product
from moderation.pages import product_on_sale_from_rows, require_product_id
from posts import queries
from posts.post_lists import begin_page, list_context
from posts.queries import PendingPage, PostList
from storefront.whole_pages import whole_page
from web.decorators import public
from web.rendering import render_page


def render_posts(
    request: HttpRequest, reading: PendingPage, of: PostList, context: Mapping[str, Any]
) -> HttpResponse:
    """Return the page of a list, or for htmx the next part of it. The address is the one that was asked for."""
    parameters = {"popular": ""} if of is queries.POPULAR else {}
    listed = list_context(reading.collect(), of, request.path, **parameters)
    return render_page(request, "posts/list.html", {**context, **listed}, part="more")


@require_safe
@whole_page("popular", "after")
@public
def newest_posts(request: HttpRequest) -> HttpResponse:
    """Show all posts, newest first, or the popular ones of this week."""
    prefetch_categories()
    is_popular = "popular" in request.GET
    of = queries.POPULAR if is_popular else queries.NEWEST
    reading = begin_page(request, of)
    context = {"kind": of.kind, "nav_current": reverse("posts:newest")}
    return render_posts(request, reading, of, context)


@require_safe
@whole_page("after")
@public
def tagged_posts(request: HttpRequest, tag: str) -> HttpResponse:
    """Show the posts with a tag, newest first."""
    if tag != tag.casefold():
        return redirect("posts:tag", tag.casefold(), permanent=True)
    prefetch_categories()
    of = queries.posts_with_tag(tag)
    return render_posts(request, begin_page(request, of), of, {"kind": of.kind, "tag": tag})


@require_safe
@whole_page("after")
@public
def product_posts(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the posts that show a product, newest first."""
    prefetch_categories()
    product_id = require_product_id(slug)
    of = queries.posts_with_product(product_id)
    reading, reading_product = begin_page(request, of), prefetch_product(product_id)
    product = product_on_sale_from_rows(reading_product.rows())
    if product.slug != slug:
        return redirect("posts:of_product", product.slug, permanent=True)
    return render_posts(request, reading, of, {"kind": of.kind, "product": product})
