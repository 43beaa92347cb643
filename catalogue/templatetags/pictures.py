"""Pictures of products in a page."""

from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

register = template.Library()
# A list draws the same few hundred pictures again and again, and this is a third of what a list costs: cached.
_CACHE_SIZE = 4096


@register.simple_tag
@lru_cache(maxsize=_CACHE_SIZE)
def picture(
    drawing: str, alt: str = "", size: str = "", *, eager: bool = False, first: bool = False
) -> SafeString:
    """Show a variant's drawing, with its space reserved before it is loaded; a sign in its place if it has none.

    `drawing` is what a variant's row holds, "shape/hex-hex", or "". `size` is a modifier of the CSS class: "", "thumb" or
    "tiny". `alt` stays empty where the name stands beside it. `eager` is for the first row of a list, `first` for
    the main picture of a page. Raises NoReverseMatch for a text that is no drawing.
    """
    shape, _, colours = drawing.partition("/")
    return format_html(
        '<img class="picture{}" src="{}" alt="{}" width="600" height="600" loading="{}" fetchpriority="{}" decoding="async">',
        f" picture--{size}" if size else "",
        reverse("picture", args=(shape, colours)) if drawing else static("icons/no-picture.svg"),
        alt,
        "eager" if eager or first else "lazy",
        "high" if first else "auto",
    )


@register.simple_tag
def swatches(colours: list[str], more: int = 0) -> SafeString:
    """Draw up to five colours as dots, with the number of the others.

    `colours` are hex digits, with or without "#"; anything else is refused by a ValueError.
    """
    count = len(colours) + more
    label = ngettext("%(count)s colour", "%(count)s colours", count) % {"count": count}
    return _swatches(tuple(colours[:5]), count, label)


@lru_cache(maxsize=_CACHE_SIZE)
def _swatches(colours: tuple[str, ...], count: int, label: str) -> SafeString:
    dot_colours = [colour.lstrip("#") for colour in colours]
    dots = format_html_join(
        "",
        '<circle cx="{}" cy="8" r="7" fill="#{}"/>',
        ((8 + 20 * index, f"{int(colour, 16):06x}") for index, colour in enumerate(dot_colours)),
    )
    rest = count - len(dot_colours)
    return format_html(
        '<span class="swatches"><svg viewBox="0 0 {} 16" width="{}" height="14" aria-hidden="true" focusable="false">{}</svg>'
        '{}<span class="vh">{}</span></span>',
        20 * len(dot_colours) - 4,
        round((20 * len(dot_colours) - 4) * 0.875),
        dots,
        f"+{rest} " if rest else "",
        label,
    )
