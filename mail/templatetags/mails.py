"""The styles of mails, which mail programs keep only beside each element, and the frames that show mails."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalogue.templatetags.pictures import public_picture_url
from mail.frames import SANDBOX
from mail.styles import get_colours, list_styles

register = template.Library()
register.filter("public_picture", public_picture_url)


@register.simple_tag
def style(element: str) -> SafeString:
    """Return the class and the style of an element, `<p {% style "p" %}>`. Raises KeyError for one that has no style."""
    return format_html('class="m-{}" style="{}"', element, list_styles()[element])


@register.simple_tag
def mail_colours(scheme: str) -> Mapping[str, str]:
    """Return the colours of mails in a scheme, "light" or "dark"."""
    return get_colours(scheme)


@register.simple_tag
def mail_sandbox() -> str:
    """Return what a frame with a mail may do, for its attribute `sandbox`."""
    return SANDBOX
