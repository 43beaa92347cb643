"""The feed of the people whom a member follows, and the buttons that follow and block."""

from uuid import UUID, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from adminpanel.parameters import cut_page
from cassandra_db import current_time
from cassandra_db.errors import InvalidPageToken
from catalogue.queries import prefetch_categories
from posts import follow_queries, queries
from posts.errors import PersonBlocked, PostBusy, TooManyBlocks, TooManyFollows
from posts.feed import PendingFeed, prefetch_feed
from posts.follow_button import PendingFollowButton
from posts.forms import BlockForm, FollowForm
from posts.operations.blocks import block_person, unblock_person
from posts.operations.follows import set_follow
from posts.pages import require_comment, require_public_profile
from posts.people import name_person
from posts.post_lists import list_context
from posts.rules import MAX_BLOCKS, MAX_FOLLOWS
from web.decorators import post_only
from web.rate_limits import hit_rate_limit
from web.rendering import is_asked_for_part, render_page

# How many people a page of the followed ones has.
_PEOPLE_SHOWN = 50


def _start_feed(request: HttpRequest, user_id: UUID) -> PendingFeed:
    prefetch_categories()
    try:
        return prefetch_feed(user_id, request.GET.get("after", ""))
    except InvalidPageToken as error:
        raise Http404 from error


@require_safe
@starts_reads(_start_feed)
@member_required
def feed(request: HttpRequest) -> HttpResponse:
    """Show the posts of the people whom the member follows, newest first."""
    reading: PendingFeed = get_early_reads(request)
    found = reading.collect()
    context = {
        "kind": queries.FEED.kind,
        "follows_anybody": found.follows_anybody,
        **list_context(found.page, queries.FEED, request.path),
    }
    return render_page(request, "posts/list.html", context, part="more")


@require_safe
@member_required
def people(request: HttpRequest) -> HttpResponse:
    """List the people whom the member follows, and those whom the member has blocked."""
    member_id = current_member(request).user_id
    reading = follow_queries.prefetch_blocks(member_id)
    follows = sorted(
        follow_queries.list_follows(member_id).values(),
        key=lambda each: each.followed_at,
        reverse=True,
    )
    shown, page, page_count = cut_page(follows, request.GET, _PEOPLE_SHOWN)
    followed = [each.followed_user_id for each in shown]
    blocks = follow_queries.blocks_from_rows(reading.rows())
    blocked = sorted(blocks, key=lambda each: blocks[each], reverse=True) if page == 1 else []
    profiles = queries.get_profiles([*followed, *blocked])
    context = {
        "followed": [name_person(each, "", profiles) for each in followed],
        "blocked": [(each, name_person(each, "", profiles), blocks[each]) for each in blocked],
        "next_page": page + 1 if page < page_count else 0,
    }
    return render_page(request, "posts/people.html", context)


@member_required
@post_only("posts:person", "handle")
def follow(request: HttpRequest, handle: str) -> HttpResponse:
    """Follow a person with a public profile, or stop."""
    form, member_id = FollowForm(request.POST), current_member(request).user_id
    if not form.is_valid():
        raise Http404
    profile, follows = require_public_profile(handle), form.cleaned_data["follows"]
    change_id = uuid5(form.cleaned_data["operation"], f"{profile.user_id.hex} {follows}")
    hit_rate_limit(request, "follow", str(member_id), hit_id=change_id)
    try:
        set_follow(
            member_id, profile.user_id, follows=follows, change_id=change_id, now=current_time()
        )
    except PersonBlocked:
        messages.error(
            request,
            _("You can’t follow yourself.")
            if profile.user_id == member_id
            else _("You can’t follow this person."),
        )
    except TooManyFollows:
        messages.error(
            request,
            _("You follow %(most)d people already. Stop following somebody first.")
            % {"most": MAX_FOLLOWS},
        )
    except PostBusy:
        messages.error(request, _("Many people follow this person right now. Try again."))
    if is_asked_for_part(request):
        context = PendingFollowButton(profile.user_id, member_id).context(profile)
        return render_page(request, "posts/person.html", context, part="follow")
    return redirect("posts:person", profile.handle)


@member_required
@post_only("posts:person", "handle")
def block(request: HttpRequest, handle: str) -> HttpResponse:
    """Block a person with a public profile."""
    profile = require_public_profile(handle)
    _block(request, profile.user_id)
    return redirect("posts:people")


@member_required
@post_only("posts:post", "post_id")
def block_writer(
    request: HttpRequest, post_id: UUID, partition: int, thread_id: UUID, comment_id: UUID
) -> HttpResponse:
    """Block who has written a comment on the member's own post."""
    comment = require_comment(post_id, partition, thread_id, comment_id)
    post = queries.get_post(post_id)
    if post is None or post.user_id != current_member(request).user_id:
        raise Http404
    _block(request, comment.user_id)
    return redirect("posts:post", post_id)


@member_required
@post_only("posts:people")
def unblock(request: HttpRequest) -> HttpResponse:
    """End the block of a person."""
    form, member_id = BlockForm(request.POST), current_member(request).user_id
    if not form.is_valid():
        raise Http404
    unblock_person(member_id, form.cleaned_data["person"], current_time())
    messages.success(request, _("This person can follow and comment again."))
    return redirect("posts:people")


def _block(request: HttpRequest, person_id: UUID) -> None:
    member_id = current_member(request).user_id
    hit_rate_limit(request, "follow", str(member_id))
    try:
        block_person(member_id, person_id, current_time())
    except PersonBlocked:
        messages.error(request, _("You can’t block yourself."))
    except TooManyBlocks:
        messages.error(
            request, _("You have blocked %(most)d people already.") % {"most": MAX_BLOCKS}
        )
    else:
        messages.success(
            request, _("This person can no longer follow or mention you, or comment on your posts.")
        )
