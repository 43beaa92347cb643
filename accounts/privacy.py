"""What accounts hold about a person. The claim of the e-mail address and the user's row go last: operations.erasing."""

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

from accounts import audit, queries
from accounts.operations.erasing import access_removed
from accounts.second_factor import factor
from accounts.sessions import sessions_of
from web.personal import Person

# For so many days the log keeps its entries.
LOG_DAYS = 400
_A_PAGE = 500


def held(person: Person) -> dict[str, Any]:
    """Return profile, addresses, sessions, and what the log says; no password, not even scrambled, and no session's key."""
    user = queries.user(person.user_id)
    if user is None:
        return {}
    second = factor(person.user_id)
    return {
        "profile": {
            "email": user.email,
            "email_proved_at": user.verified_at,
            "email_to_be": user.email_next,
            "name": user.name,
            "role": user.role,
            "usual_country": user.delivery_country,
            "mail_as_text_only": bool(user.plain_mail),
            "member_since": user.created_at,
        },
        "addresses": [
            each.fields() | {"used_by_default": each.default} for each in queries.addresses_of(user)
        ],
        "sessions": [
            {"device": each.device, "began_at": each.began, "seen_at": each.seen}
            for each in sessions_of(person.user_id, None)
        ],
        "second_factor": {"since": second.enrolled_at, "recovery_codes_left": second.recovery_left}
        if second
        else None,
        "log": [_told(entry) for entry in _entries(person)],
    }


def _told(entry: audit.Entry) -> dict[str, Any]:
    told = {"at": entry.moment, "what": entry.act, "ended": entry.outcome}
    # Whom and what one of the staff worked on is about others, and behind the second factor.
    return (
        told if entry.book == audit.STAFF else told | {"about": entry.subject, "sent": entry.fields}
    )


def _entries(person: Person) -> Iterator[audit.Entry]:
    for month in _months(datetime.now(UTC).date()):
        after = ""
        while True:
            entries, after = audit.of_actor(person.user_id, month, after, _A_PAGE)
            yield from entries
            if not after:
                break


def _months(today: date) -> Iterator[date]:
    """Yield the months of which the log still has something, the latest first."""
    month = today.replace(day=1)
    while month > today - timedelta(days=LOG_DAYS + 31):
        yield month
        month = (month - timedelta(days=1)).replace(day=1)


def against(person: Person) -> list[str]:
    """Return why one of the staff, or a login of the showroom, cannot be erased."""
    if person.demo:
        return ["This login belongs to the showroom, and to everybody who tries it out: it stays."]
    if person.role:
        return [
            f"You work here ({person.role}). Ask another admin to take the role from you first:"
            " so the shop is never without one."
        ]
    return []


def erased(person: Person, now: datetime) -> None:
    """End all sessions, and whatever else lets the person in."""
    access_removed(person.user_id)
