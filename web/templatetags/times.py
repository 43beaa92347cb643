"""Moments, as machines read them."""

from datetime import datetime

from django import template

register = template.Library()


@register.filter(expects_localtime=True)
def iso(moment: datetime | None) -> str:
    """Write a moment as HTML's `datetime` takes it, to the second; nothing for none. (`date:"c"` writes microseconds, which it does not.)"""
    return moment.isoformat(timespec="seconds") if moment else ""
