"""How long ago something was, for people in a hurry."""

from datetime import UTC, datetime

from django import template

register = template.Library()

_UNITS = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))


@register.filter
def ago(when: datetime | None) -> str:
    """Write the time since `when` (UTC) in its largest unit: "3 hours ago"; None gives the empty text."""
    if when is None:
        return ""
    passed = int((datetime.now(UTC) - when).total_seconds())
    if passed < 1:
        return "just now"
    seconds, unit = next(each for each in _UNITS if passed >= each[0])
    count = passed // seconds
    return f"{count} {unit}{'' if count == 1 else 's'} ago"
