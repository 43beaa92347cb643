"""The staff's pages of posts and comments: show one, and decide about it. The queue is the one of reviews."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import REVIEW_STAFF
from adminpanel.moderation.forms import HOLD, PUBLISH, ReviewDecisionForm, ReviewPictureForm
from adminpanel.moderation.labels import REASONS_HELD, STATES
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from moderation.errors import NoSuchText, TextChanged
from moderation.states import PUBLISHED, REFUSED
from moderation.texts import ModeratedText
from posts import comment_queries, queries
from posts.entities import Comment, Post
from posts.errors import NoSuchPost, PostBusy
from posts.operations import comments, posts
from posts.shop_products import PendingShopProducts
from posts.states import HIDDEN
from web.decorators import post_only
from web.rendering import render_page


class DecisionForm(ReviewDecisionForm):
    """The form of a decision about a post or a comment."""

    reason_help = gettext_lazy("The writer gets it as a notification.")


_STATES = {**STATES, HIDDEN: (gettext_lazy("Hidden by the post’s author"), "calm")}


@staff_required(REVIEW_STAFF)
@require_safe
def post_detail(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Show a post with all its pictures, and the decisions that staff can take."""
    return _post_page(request, post_id)


@staff_required(REVIEW_STAFF)
@post_only("posts:staff_post", "post_id")
def decide_post(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Publish, refuse or hold a post."""
    form, _found = DecisionForm(request.POST), _require_post(post_id)
    if not form.is_valid():
        return _post_page(request, post_id, form=form, status=422)
    typed = form.cleaned_data
    change: dict[str, Any] = {
        "seen": typed["version"],
        "change_id": uuid5(typed["operation"], typed["act"]),
        "now": current_time(),
    }
    try:
        if typed["act"] == PUBLISH:
            posts.publish_post(post_id, **change)
            messages.success(request, _("The post is published."))
        elif typed["act"] == HOLD:
            posts.hold_post(post_id, **change)
            messages.success(request, _("The post is back in the queue."))
        else:
            posts.refuse_post(post_id, typed["reason"], **change)
            messages.success(
                request, _("Post refused. The writer gets a notification with your reason.")
            )
    except NoSuchPost as error:
        raise Http404 from error
    except TextChanged:
        return _post_page(request, post_id, form=form, status=409)
    return redirect("posts:staff_post", post_id)


@staff_required(REVIEW_STAFF)
@post_only("posts:staff_post", "post_id")
def remove_picture(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Remove a picture from a post."""
    form, _found = ReviewPictureForm(request.POST), _require_post(post_id)
    if not form.is_valid():
        return _post_page(request, post_id, status=409)
    typed = form.cleaned_data
    try:
        posts.remove_picture(
            post_id,
            typed["picture"],
            seen=typed["version"],
            change_id=uuid5(typed["operation"], typed["picture"]),
            now=current_time(),
        )
    except NoSuchPost as error:
        raise Http404 from error
    except TextChanged:
        return _post_page(request, post_id, status=409)
    messages.success(request, _("The picture is removed."))
    return redirect("posts:staff_post", post_id)


def _require_post(post_id: UUID) -> Post:
    post = queries.get_post(post_id) if post_id.version == 1 else None
    return found_or_404(post, "post")


def _post_page(
    request: HttpRequest, post_id: UUID, *, form: DecisionForm | None = None, status: int = 200
) -> HttpResponse:
    post = _require_post(post_id)
    products = PendingShopProducts(post.products).collect()
    # A post whose pictures are still being prepared is not in the queue yet.
    can_publish = post.is_waiting and bool(post.own_pictures)
    context = {
        "post": post,
        "products": products,
        **_decision(post, form, status),
        "can_decide": can_publish,
    }
    return render_page(request, "posts/staff_post.html", context, status=status)


@staff_required(REVIEW_STAFF)
@require_safe
def comment_detail(request: HttpRequest, user_id: UUID, comment_id: UUID) -> HttpResponse:
    """Show a comment, and the decisions that staff can take."""
    return _comment_page(request, user_id, comment_id)


@staff_required(REVIEW_STAFF)
@post_only("posts:staff_comment", "user_id", "comment_id")
def decide_comment(request: HttpRequest, user_id: UUID, comment_id: UUID) -> HttpResponse:
    """Publish, refuse or hold a comment."""
    form, found = DecisionForm(request.POST), _require_comment(user_id, comment_id)
    if not form.is_valid():
        return _comment_page(request, user_id, comment_id, form=form, status=422)
    typed = form.cleaned_data
    seen = replace(found, version=typed["version"])
    change: dict[str, Any] = {
        "change_id": uuid5(typed["operation"], typed["act"]),
        "now": current_time(),
    }
    try:
        if typed["act"] == PUBLISH:
            comments.publish_comment(seen, **change)
            messages.success(request, _("The comment is published."))
        elif typed["act"] == HOLD:
            comments.hold_comment(seen, **change)
            messages.success(request, _("The comment is back in the queue."))
        else:
            comments.refuse_comment(seen, typed["reason"], **change)
            messages.success(
                request, _("Comment refused. The writer gets a notification with your reason.")
            )
    except NoSuchText as error:
        raise Http404 from error
    except (TextChanged, PostBusy):
        return _comment_page(request, user_id, comment_id, form=form, status=409)
    return redirect("posts:staff_comment", user_id, comment_id)


def _require_comment(user_id: UUID, comment_id: UUID) -> Comment:
    is_possible = comment_id.version == 1
    found = comment_queries.find_comment_of(user_id, comment_id) if is_possible else None
    return found_or_404(found, "comment")


def _comment_page(
    request: HttpRequest,
    user_id: UUID,
    comment_id: UUID,
    *,
    form: DecisionForm | None = None,
    status: int = 200,
) -> HttpResponse:
    comment = _require_comment(user_id, comment_id)
    context = {
        "comment": comment,
        "post": queries.get_post(comment.post_id),
        **_decision(comment, form, status),
        "can_decide": comment.is_waiting,
    }
    return render_page(request, "posts/staff_comment.html", context, status=status)


def _decision(text: ModeratedText, form: DecisionForm | None, status: int) -> dict[str, Any]:
    """Return what the pages of posts and comments show of the staff's decision."""
    if form and status == 409:
        form.keep_typed(version=text.version, operation=uuid4())
    state, tone = _STATES[text.state]
    initial = {"version": text.version, "operation": uuid4()}
    return {
        "state": state,
        "tone": tone,
        "held_for": REASONS_HELD.get(text.held_for, ""),
        "decision": form or DecisionForm(initial=initial),
        "form": form,
        "is_stale": status == 409,
        "can_undo": text.state in (PUBLISHED, REFUSED) and not text.is_waiting,
    }
