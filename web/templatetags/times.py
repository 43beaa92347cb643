"""Django's `date` filter, which here writes moments as HTML accepts them."""

from datetime import datetime
from typing import Any

from django import template
from django.template import defaultfilters

register = template.Library()


@register.filter(expects_localtime=True, is_safe=False)
def date(value: Any, form: str | None = None) -> Any:
    """Format as Django's `date` does, but `date:"c"` without microseconds: HTML's `datetime` refuses them."""
    if form == "c" and isinstance(value, datetime):
        value = value.replace(microsecond=0)
    return defaultfilters.date(value, form)
