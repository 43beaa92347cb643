"""The page of a post."""

from uuid import UUID, uuid5

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from cassandra_db import current_time
from catalogue.queries import prefetch_categories
from moderation.errors import NoSuchText, TextChanged
from posts.errors import NoSuchPost
from posts.operations.posts import report_post as note_report
from posts.pages import require_public_post
from posts.post_page import PostPage
from storefront.whole_pages import whole_page
from web.decorators import post_only, public
from web.rate_limits import hit_rate_limit
from web.rendering import render_page


@require_safe
@whole_page("after")
@public
def post_detail(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show a post with its products and comments, or for htmx the next part of its comments."""
    prefetch_categories()
    page = PostPage(request, post_id)
    return render_page(request, "posts/post.html", page.context(), part="more")


@member_required
@post_only("posts:post", "post_id")
def report_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Report a post to the staff; a second report changes nothing."""
    post, member_id = require_public_post(post_id), current_member(request).user_id
    if not post.has_report(member_id):
        # Two submits at once count as one.
        hit_id = uuid5(post_id, f"{member_id.hex} {post.version}")
        hit_rate_limit(request, "report", str(member_id), hit_id=hit_id)
        try:
            note_report(post, member_id, now=current_time())
        except (NoSuchPost, NoSuchText, TextChanged):
            messages.error(request, _("This post has just changed. Please look at it again."))
            return redirect("posts:post", post_id)
    messages.success(request, _("Thank you. We’ll look at this post."))
    return redirect("posts:post", post_id)
