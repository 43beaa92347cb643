"""The shop's icons, drawn by hand and kept in static/icons."""

import re
from functools import lru_cache
from pathlib import Path

from django import template
from django.contrib.staticfiles import finders
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

_DRAWING = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_NAME = re.compile(r"[a-z0-9-]+")


@lru_cache(maxsize=128)
def _drawing(name: str) -> SafeString:
    path = finders.find(f"icons/{name}.svg") if _NAME.fullmatch(name) else None
    if not isinstance(path, str):
        raise template.TemplateSyntaxError(f"There is no icon named {name!r} in static/icons.")
    found = _DRAWING.search(Path(path).read_text(encoding="utf-8"))
    if found is None:
        raise template.TemplateSyntaxError(f"static/icons/{name}.svg is not one svg element.")
    # This is safe: the text is a file of this repository, its name is checked above, and no visitor's input reaches it.
    return SafeString(found.group(1))


@register.simple_tag
@lru_cache(maxsize=256)
def icon(name: str, modifier: str = "") -> SafeString:
    """Draw static/icons/<name>.svg inside the page, in the colour of the text around it.

    Screen readers skip the drawing: put words beside it. Raises TemplateSyntaxError for an unknown name.
    """
    return format_html(
        '<svg class="icon{}" viewBox="0 0 24 24" aria-hidden="true" focusable="false">{}</svg>',
        f" icon--{modifier}" if modifier else "",
        _drawing(name),
    )
