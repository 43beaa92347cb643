"""A template filter for the age of a time, in words."""

from datetime import datetime

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import ngettext_lazy

from cassandra_db import current_time

register = template.Library()

_UNITS = (
    (86400, ngettext_lazy("%(count)s day ago", "%(count)s days ago", "count")),
    (3600, ngettext_lazy("%(count)s hour ago", "%(count)s hours ago", "count")),
    (60, ngettext_lazy("%(count)s minute ago", "%(count)s minutes ago", "count")),
    (1, ngettext_lazy("%(count)s second ago", "%(count)s seconds ago", "count")),
)


@register.filter
def ago(when: datetime | None) -> str:
    """Return the time since `when` (UTC) in its largest unit, such as "3 hours ago"; "" if `when` is None."""
    if when is None:
        return ""
    passed = int((current_time() - when).total_seconds())
    if passed < 1:
        return _("just now")
    seconds, words = next(each for each in _UNITS if passed >= each[0])
    return words % {"count": passed // seconds}
