"""Comments on posts: write, reply, edit, delete, hide and report."""

from dataclasses import replace
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, member_required
from cassandra_db import current_time
from moderation.errors import NoSuchText, TextChanged
from moderation.rules import find_reason_to_hold, get_review_rules, shown_name
from moderation.similar_texts import find_crowd_or_copy
from moderation.states import PUBLISHED
from posts.entities import Comment, CommentInput
from posts.errors import PostBusy, ThreadFull
from posts.follow_queries import has_blocked
from posts.forms import CommentEditForm, CommentForm, VersionForm
from posts.operations import comments as operations
from posts.pages import require_comment, require_public_post
from posts.post_page import PostPage
from posts.time_ids import is_form_id, make_form_id
from web.decorators import get_or_post, post_only
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import is_asked_for_part, render_page, render_too_many_attempts

_PAGE = "posts/post.html"


@member_required
@post_only("posts:post", "post_id")
def write_comment(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Comment on a post, or reply to a comment."""
    post, member, now = require_public_post(post_id), current_member(request), current_time()
    form = CommentForm(request.POST)
    if not form.is_valid():
        return _show_post(request, post_id, form, status=422)
    typed, comment_id = form.cleaned_data, form.cleaned_data["form_id"]
    if not is_form_id(comment_id, member.user_id, now):
        form.add_error(None, _("This page was open for long. Send your comment once more."))
        form.keep_typed(form_id=make_form_id(member.user_id))
        return _show_post(request, post_id, form, status=422)
    if has_blocked(post.user_id, member.user_id):
        form.add_error(None, _("You can’t comment on this person’s posts."))
        return _show_post(request, post_id, form, status=422)
    change_id = uuid5(member.user_id, comment_id.hex)
    try:
        hit_rate_limit(request, "comment", str(member.user_id), hit_id=change_id)
    except TooManyAttempts as error:
        context = PostPage(request, post_id).context(form)
        return render_too_many_attempts(request, error, _PAGE, context)
    is_reply = typed["thread"] is not None
    try:
        comment = operations.write_comment(
            post,
            member.user_id,
            CommentInput(
                typed["body"],
                name=shown_name(member.name),
                thread_id=typed["thread"],
                partition=(typed["partition"] or 0) if is_reply else post.comment_partition,
                held_for=_find_reason_to_hold(request, typed["body"], member.user_id, change_id),
            ),
            comment_id=comment_id,
            change_id=change_id,
            now=now,
        )
    except ThreadFull:
        form.add_error(None, _("This comment has as many replies as it can have."))
        return _show_post(request, post_id, form, status=422)
    except NoSuchText:
        form.add_error(None, _("The comment that you reply to is no longer there."))
        return _show_post(request, post_id, form, status=422)
    except PostBusy:
        form.add_error(None, _("Many people are commenting right now. Try again."))
        return _show_post(request, post_id, form, status=409)
    if comment.state == PUBLISHED:
        messages.success(request, _("Your comment is on the page."))
    else:
        messages.success(request, _("Thank you. We’ll read your comment before it appears."))
    return _go_on(request, post_id, comment)


@member_required
@get_or_post
def edit_comment(
    request: HttpRequest, post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> HttpResponse:
    """Show the form that changes one of the member's comments, and save it."""
    found = require_comment(post_id, partition, thread_id, comment_id)
    member = current_member(request)
    if found.user_id != member.user_id:
        raise Http404
    initial = {"body": found.body, "version": found.version, "operation": uuid4()}
    form = CommentEditForm(request.POST or None, initial=initial)
    context = {"comment": found, "form": form, "post_id": post_id}
    template = "posts/comment_edit.html"
    if request.method != "POST":
        return render_page(request, template, context)
    if not form.is_valid():
        return render_page(request, template, context, status=422)
    typed = form.cleaned_data
    change_id = uuid5(typed["operation"], comment_id.hex)
    try:
        hit_rate_limit(request, "edit", str(member.user_id), hit_id=change_id)
        operations.edit_comment(
            replace(found, version=typed["version"]),
            typed["body"],
            held_for=_find_reason_to_hold(request, typed["body"], member.user_id, change_id),
            change_id=change_id,
            now=current_time(),
        )
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, template, context)
    except NoSuchText as error:
        raise Http404 from error
    except (TextChanged, PostBusy):
        present = require_comment(post_id, partition, thread_id, comment_id)
        form.keep_typed(version=present.version, operation=uuid4())
        stale = {"comment": present, "is_stale": True}
        return render_page(request, template, {**context, **stale}, status=409)
    messages.success(request, _("Your comment is saved."))
    return redirect(_comment_url(post_id, comment_id))


@member_required
@post_only("posts:post", "post_id")
def withdraw_comment(
    request: HttpRequest, post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> HttpResponse:
    """Delete one of the member's comments."""
    found = require_comment(post_id, partition, thread_id, comment_id)
    if found.user_id != current_member(request).user_id:
        raise Http404
    form = VersionForm(request.POST)
    if not form.is_valid():
        raise Http404
    try:
        operations.withdraw_comment(
            replace(found, version=form.cleaned_data["version"]),
            change_id=uuid5(form.cleaned_data["operation"], f"delete {comment_id.hex}"),
            now=current_time(),
        )
    except (NoSuchText, TextChanged, PostBusy):
        messages.error(request, _("This comment has just changed. Please read it again."))
    else:
        messages.success(request, _("Your comment is deleted."))
    return _go_on(request, post_id)


@member_required
@post_only("posts:post", "post_id")
def hide_comment(
    request: HttpRequest, post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> HttpResponse:
    """Hide a comment on the member's own post, or show it again."""
    found = require_comment(post_id, partition, thread_id, comment_id)
    if require_public_post(post_id).user_id != current_member(request).user_id:
        raise Http404
    form = VersionForm(request.POST)
    if not form.is_valid():
        raise Http404
    hides = form.cleaned_data["hidden"]
    act = operations.hide_comment if hides else operations.show_comment
    try:
        act(
            replace(found, version=form.cleaned_data["version"]),
            change_id=uuid5(form.cleaned_data["operation"], f"hide {hides} {comment_id.hex}"),
            now=current_time(),
        )
    except (NoSuchText, TextChanged, PostBusy):
        messages.error(request, _("This comment has just changed. Please read it again."))
    else:
        messages.success(
            request,
            _("Only you and its writer see the comment now.")
            if hides
            else _("Everybody sees the comment again."),
        )
    return _go_on(request, post_id)


@member_required
@post_only("posts:post", "post_id")
def report_comment(
    request: HttpRequest, post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> HttpResponse:
    """Report a comment to the staff; a second report changes nothing."""
    found = require_comment(post_id, partition, thread_id, comment_id)
    member_id = current_member(request).user_id
    if found.state != PUBLISHED:
        raise Http404
    try:
        if not found.has_report(member_id):
            hit_id = uuid5(comment_id, f"{member_id.hex} {found.version}")
            hit_rate_limit(request, "report", str(member_id), hit_id=hit_id)
            operations.report_comment(found, member_id, now=current_time())
    except (NoSuchText, TextChanged, PostBusy):
        messages.error(request, _("This comment has just changed. Please read it again."))
    else:
        messages.success(request, _("Thank you. We’ll look at this comment."))
    return _go_on(request, post_id)


def _find_reason_to_hold(request: HttpRequest, body: str, member_id: UUID, change_id: UUID) -> str:
    return find_reason_to_hold("", body, get_review_rules()) or find_crowd_or_copy(
        request, body, member_id, change_id, "unread_comment"
    )


def _show_post(
    request: HttpRequest, post_id: UUID, form: CommentForm, *, status: int
) -> HttpResponse:
    """Show the post with a comment that was refused."""
    if form["thread"].value():
        form.mark_reply()
    context = PostPage(request, post_id).context(form)
    return render_page(request, _PAGE, context, part="comments", status=status)


def _go_on(request: HttpRequest, post_id: UUID, comment: Comment | None = None) -> HttpResponse:
    """Show the comments of a post as they are now."""
    if is_asked_for_part(request):
        context = PostPage(request, post_id).context()
        return render_page(request, _PAGE, context, part="comments")
    return redirect(_comment_url(post_id, comment.comment_id if comment else None))


def _comment_url(post_id: UUID, comment_id: UUID | None = None) -> str:
    address = reverse("posts:post", args=(post_id,))
    return f"{address}#c{comment_id}" if comment_id else f"{address}#comments"
