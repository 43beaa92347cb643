"""Who else of the staff has a page open."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from accounts.models import User
from orders.viewers import Viewer


@dataclass(frozen=True)
class OtherViewers:
    """The names of others who have a page open: that of the order with this number, or of the conversation with this id."""

    key: str | UUID
    names: list[str]

    @property
    def fingerprint(self) -> str:
        """A hash of the names. An open page sends it, and learns whether it is current."""
        return hashlib.sha256("\n".join(self.names).encode()).hexdigest()[:16]


def list_other_viewers(key: str | UUID, found: Iterable[Viewer], own: User) -> OtherViewers:
    """Return the viewers of a page without one user."""
    return OtherViewers(key, [each.name for each in found if each.user_id != own.pk])
