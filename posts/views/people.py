"""The page of a person, and the form of a member's own profile."""

from uuid import uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from accounts.bell import get_request_bell
from catalogue.queries import prefetch_categories
from posts import queries
from posts.errors import HandleRefused, HandleTaken, ProfileChanged
from posts.follow_button import PendingFollowButton
from posts.forms import ProfileForm
from posts.operations.profiles import save_profile
from posts.people import name_person
from posts.post_lists import begin_page, list_context
from posts.rules import MAX_HANDLE
from storefront.whole_pages import whole_page
from web.decorators import get_or_post, public
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, render_too_many_attempts

_PROFILE = "posts/profile.html"


@require_safe
@whole_page("after")
@public
def person(request: HttpRequest, handle: str) -> HttpResponse:
    """Show a person with a public profile, and their posts."""
    prefetch_categories()
    # A longer one would be no handle, but too long a key.
    user_id = queries.find_user_id_by_handle(handle) if len(handle) <= MAX_HANDLE else None
    if user_id is None:
        raise Http404
    of = queries.posts_of_person(user_id)
    reading = begin_page(request, of)
    reading_profile = queries.prefetch_profiles([user_id])
    followers = PendingFollowButton(user_id, get_request_bell(request).user_id)
    profile = queries.profiles_from_results(reading_profile).get(user_id)
    if profile is None or not profile.is_public or not queries.has_handle(profile, handle):
        raise Http404
    if profile.handle != handle:
        return redirect("posts:person", profile.handle, permanent=False)
    page = reading.collect()
    context = {
        **followers.context(profile),
        "person": name_person(profile.user_id, profile.name, {profile.user_id: profile}),
        **list_context(page, of, request.path),
    }
    return render_page(request, "posts/person.html", context, part="more")


@member_required
@get_or_post
def edit_profile(request: HttpRequest) -> HttpResponse:
    """Show the form of the member's profile, and save it."""
    member = current_member(request)
    profile = queries.get_profile(member.user_id)
    if request.method != "POST":
        context = {"form": ProfileForm.of_profile(profile), "profile": profile}
        return render_page(request, _PROFILE, context)
    form = ProfileForm(request.POST)
    context = {"form": form, "profile": profile}
    if not form.is_valid():
        return render_page(request, _PROFILE, context, status=422)
    typed = form.cleaned_data
    change_id = uuid5(member.user_id, typed["operation"].hex)
    try:
        hit_rate_limit(request, "profile", str(member.user_id), hit_id=change_id)
        save_profile(
            member.user_id,
            typed["handle"],
            typed["about"],
            is_public=typed["is_public"],
            seen=typed["version"],
            change_id=change_id,
        )
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, _PROFILE, context)
    except HandleTaken:
        form.add_error(
            "handle", _("Somebody has this handle, or one that looks like it. Choose another one")
        )
        return render_page(request, _PROFILE, context, status=422)
    except HandleRefused as refused:
        form.add_error("handle", str(refused))
        return render_page(request, _PROFILE, context, status=422)
    except ProfileChanged:
        present = queries.get_profile(member.user_id)
        form.keep_typed(version=present.version if present else 0, operation=uuid4())
        stale = {"profile": present, "is_stale": True}
        return render_page(request, _PROFILE, {**context, **stale}, status=409)
    messages.success(
        request,
        _("Your profile is saved. Everybody can see it.")
        if typed["is_public"]
        else _("Your profile is saved. Nobody else sees it."),
    )
    return redirect("posts:profile")
