"""The kinds of notifications, and where their events come from: the `notifications.py` of each app that has one.

    KINDS                                       the app's `Kind` objects
    prepare_news(subject_id, detail, noted_at)  returns the events of a subject that was announced (`announce`); None: not yet

`accounts.notifications` also has the members: `start_recipient`, `find_recipient` and `save_choice`. Accounts stand above the apps
that announce, so they are not imported.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from types import ModuleType
from uuid import UUID

from django.core.exceptions import ImproperlyConfigured

from notifications.entities import MAIL, PAGE, Kind, News, Recipient
from web.app_modules import find_app_modules

_READERS = "accounts"


@cache
def _modules() -> Mapping[str, ModuleType]:
    return find_app_modules("notifications")


@cache
def get_kinds() -> Mapping[str, Kind]:
    """Return the kinds of all installed apps, by name. Raises ImproperlyConfigured when two have one name."""
    found: dict[str, Kind] = {}
    for module in _modules().values():
        for kind in getattr(module, "KINDS", ()):
            if kind.name in found:
                raise ImproperlyConfigured(f"two kinds of notifications are named {kind.name!r}")
            found[kind.name] = kind
    return found


def prepare_news(
    source: str, subject_id: UUID, detail: str, noted_at: datetime
) -> list[News] | None:
    """Return the events that an app finds at a subject; None if its write is still under way. An app that is gone finds none."""
    module = _modules().get(source)
    found: list[News] | None = module.prepare_news(subject_id, detail, noted_at) if module else []
    return found


def start_recipient(user_id: UUID) -> Callable[[], Recipient | None]:
    """Start reading a member. The returned function returns them; None if they get no notifications. Raises CassandraUnavailable."""
    found: Callable[[], Recipient | None] = _modules()[_READERS].start_recipient(user_id)
    return found


def find_recipient(email: str) -> Recipient | None:
    """Return the member with an e-mail address, or None. Raises CassandraUnavailable."""
    found: Recipient | None = _modules()[_READERS].find_recipient(email)
    return found


def stop_mails(user_id: UUID, kinds: Iterable[Kind]) -> None:
    """Leave the news of these kinds on a member's page alone. A member who is gone is ignored. Raises CassandraUnavailable."""
    for kind in kinds:
        _modules()[_READERS].save_choice(user_id, kind.name, PAGE)


def wants_mail(kind_name: str, choices: Mapping[str, str] | None) -> bool:
    """Return whether a member with these choices wants the mail of a kind that its app sends."""
    kind = get_kinds()[kind_name]
    return kind.is_always_mailed or kind.choose(choices) == MAIL
