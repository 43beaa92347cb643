"""Who else has an order's page open, as the page shows it."""

import hashlib
from collections.abc import Iterable
from typing import Any

from accounts.models import User
from orders.viewers import Viewer


def viewers_context(number: str, viewers: Iterable[Viewer], own: User) -> dict[str, Any]:
    """Return what adminpanel/_viewers.html shows; `fingerprint` tells a page whether it shows that already."""
    names = [each.name for each in viewers if each.user_id != own.pk]
    fingerprint = hashlib.sha256("\n".join(names).encode()).hexdigest()[:16]
    return {"viewed_number": number, "viewer_names": names, "viewers_fingerprint": fingerprint}
