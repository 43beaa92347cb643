"""Finds users and their names by user id."""

from collections.abc import Collection
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.models import User
from accounts.queries import get_users
from adminpanel.parameters import found_or_404


def get_user_or_404(user_id: UUID) -> User:
    """Return the user with an id. Raises Http404 if there is none. Also raises CassandraUnavailable."""
    return found_or_404(get_users([user_id]).get(user_id), "user")


def list_names(user_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the users' names, keyed by user id, or a phrase for a deleted account. Raises CassandraUnavailable."""
    people, gone = get_users(user_ids), _("deleted account")
    return {each: people[each].name if each in people else gone for each in user_ids}
