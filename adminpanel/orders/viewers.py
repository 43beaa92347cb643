"""Who else has an order's page open, as the page shows it."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from accounts.models import User
from orders.viewers import Viewer


@dataclass(frozen=True)
class OtherViewers:
    """Who else has the page of an order open; `fingerprint` tells a page whether it shows that already."""

    number: str
    names: list[str]
    fingerprint: str


def list_other_viewers(number: str, viewers: Iterable[Viewer], own: User) -> OtherViewers:
    """Return those of the viewers of an order who are somebody else."""
    names = [each.name for each in viewers if each.user_id != own.pk]
    fingerprint = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
    return OtherViewers(number, names, fingerprint)
