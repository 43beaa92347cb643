"""The names of users that a page knows by id."""

from collections.abc import Collection
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.queries import get_users


def list_names(user_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return what users are called, by their ids, those without an account included. Raises CassandraUnavailable."""
    people, gone = get_users(user_ids), _("somebody whose account was deleted")
    return {each: people[each].name if each in people else gone for each in user_ids}
