"""People as the pages of posts name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from posts.entities import Profile


@dataclass(frozen=True)
class Person:
    """A person as a page names them. Without a public profile they have neither a handle nor a page."""

    name: str
    handle: str = ""

    @property
    def url(self) -> str:
        """The address of the person's page, or ""."""
        return reverse("posts:person", args=(self.handle,)) if self.handle else ""


def name_person(user_id: UUID, name: str, profiles: Mapping[UUID, Profile]) -> Person:
    """Return a person as a page names them: by the name of their profile, else by the one that the post or comment has."""
    profile = profiles.get(user_id)
    shown = (profile.name if profile else "") or name or _("A customer")
    return Person(shown, profile.handle if profile and profile.is_public else "")
