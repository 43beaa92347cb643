"""Writes of profiles and handles.

A handle is claimed before the profile names it. A claim counts while the profile names its handle, as the present one or as one that
was given up: a former handle stays its owner's, so that no stranger takes over its links. After a crash between the two writes, the
consistency check releases the claim.
"""

from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.queries import get_user
from cassandra_db import SEND_AGAIN, applied_if, conditional_write
from moderation.rules import shown_name
from posts import queries
from posts.entities import Profile
from posts.errors import HandleRefused, HandleTaken, ProfileChanged
from posts.handles import check_handle, fold_handle
from posts.rules import MAX_FORMER_HANDLES

CLAIM_HANDLE = conditional_write(
    "L9",
    "INSERT INTO people_by_handle (handle_key, user_id) VALUES (:handle_key, :user_id) IF NOT EXISTS",
)
RELEASE_HANDLE = conditional_write(
    "L9", "DELETE FROM people_by_handle WHERE handle_key = :handle_key IF user_id = :user_id"
)
UPDATE_PROFILE = conditional_write(
    "L9",
    """UPDATE profiles SET handle = :handle, former_handles = :former_handles, about = :about, is_public = :is_public,
       name = :name, version = :version, change_id = :change_id
       WHERE user_id = :user_id IF version = :seen AND change_id != :change_id""",
)
DELETE_PROFILE = conditional_write(
    "L9", "DELETE FROM profiles WHERE user_id = :user_id IF version = :seen"
)


def save_profile(
    user_id: UUID, handle: str, about: str, *, is_public: bool, seen: int, change_id: UUID
) -> Profile:
    """Write a member's profile, and claim its handle; return the stored profile.

    `seen` is the version that the form showed, or 0. A profile that is not public needs no handle. A form that is sent twice with
    the same `change_id` is written once. Raises HandleTaken, HandleRefused, ProfileChanged, CassandraUnavailable.
    """
    before, member = queries.get_profile(user_id), get_user(user_id)
    if before and before.change_id == change_id:
        return before
    if member is None or (before.version if before else 0) != seen:
        raise ProfileChanged
    key = check_handle(handle) if handle or is_public else ""
    after = Profile(
        user_id=user_id,
        handle=handle,
        about=about,
        is_public=is_public,
        name=shown_name(member.name),
        version=seen + 1,
        change_id=change_id,
        former_handles=_list_former(before, key),
    )
    if key:
        claim_handle(key, user_id)

    def is_ours(found: Any) -> bool:
        return getattr(found, "change_id", None) == change_id

    outcome = UPDATE_PROFILE.apply(
        if_lost=applied_if(is_ours),
        user_id=user_id,
        handle=handle,
        former_handles=" ".join(after.former_handles),
        about=about,
        is_public=is_public,
        name=after.name,
        version=after.version,
        change_id=change_id,
        seen=seen or None,
    )
    if outcome or is_ours(outcome.current):
        return after
    if key and key not in list_handle_keys(queries.get_profile(user_id)):
        release_handle(key, user_id)
    raise ProfileChanged


def _list_former(before: Profile | None, key: str) -> tuple[str, ...]:
    """Return the keys of the handles that a member has given up, once the present one has this key. Raises HandleRefused."""
    former = tuple(each for each in list_handle_keys(before) if each != key)
    if len(former) > MAX_FORMER_HANDLES:
        raise HandleRefused(
            _("You’ve changed your handle %(count)d times. Take one that you had before.")
            % {"count": MAX_FORMER_HANDLES}
        )
    return former


def list_handle_keys(profile: Profile | None) -> list[str]:
    """Return the keys of the handles that a profile names: the former ones, then the present one."""
    if profile is None:
        return []
    present = [fold_handle(profile.handle)] if profile.handle else []
    return list(dict.fromkeys([*profile.former_handles, *present]))


def claim_handle(key: str, user_id: UUID) -> None:
    """Claim the handle with a key. Raises HandleTaken if it is another member's, and CassandraUnavailable."""

    def is_ours(found: Any) -> bool:
        return getattr(found, "user_id", None) == user_id

    outcome = CLAIM_HANDLE.apply(if_lost=applied_if(is_ours), handle_key=key, user_id=user_id)
    if not outcome and not is_ours(outcome.current):
        raise HandleTaken


def release_handle(key: str, user_id: UUID) -> None:
    """Give up a person's claim. Raises CassandraUnavailable."""
    RELEASE_HANDLE.apply(if_lost=SEND_AGAIN, handle_key=key, user_id=user_id)


def erase_profile(user_id: UUID) -> None:
    """Delete a person's profile and claims. May be repeated. Raises CassandraUnavailable."""
    row = queries.PROFILE.one(user_id=user_id)
    for key in list_handle_keys(queries.profile_from_row(row)):
        release_handle(key, user_id)
    if row:
        DELETE_PROFILE.apply(if_lost=SEND_AGAIN, user_id=user_id, seen=row.version)
