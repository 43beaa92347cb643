"""Likes of posts."""

from uuid import UUID, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.access import current_member, member_required
from cassandra_db import current_time
from posts.errors import PersonBlocked, PostBusy
from posts.follow_queries import has_blocked
from posts.forms import LikeForm
from posts.operations.likes import set_like
from posts.pages import require_public_post
from posts.post_page import PostPage
from web.decorators import post_only
from web.rate_limits import hit_rate_limit
from web.rendering import is_asked_for_part, render_page


@member_required
@post_only("posts:post", "post_id")
def like_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Like a post, change the type of the like, or take it back."""
    form, member_id = LikeForm(request.POST), current_member(request).user_id
    if not form.is_valid():
        raise Http404
    post, like_type = require_public_post(post_id), form.cleaned_data["like_type"]
    change_id = uuid5(form.cleaned_data["operation"], f"{post_id.hex} {like_type}")
    hit_rate_limit(request, "like", str(member_id), hit_id=change_id)
    try:
        if like_type and has_blocked(post.user_id, member_id):
            raise PersonBlocked
        set_like(member_id, post, like_type, change_id=change_id, now=current_time())
    except PostBusy:
        messages.error(request, _("Many people like this post right now. Try again."))
    except PersonBlocked:
        messages.error(request, _("You can’t like this person’s posts."))
    if is_asked_for_part(request):
        page = PostPage(request, post_id)
        return render_page(request, "posts/post.html", page.context(), part="likes")
    return redirect("posts:post", post_id)
