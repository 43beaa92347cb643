"""The look of mails: the styles of their elements, which mail programs keep only beside each element."""

from collections.abc import Mapping

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalogue.templatetags.pictures import public_picture_url
from mail.look import get_colours, list_styles

register = template.Library()
register.filter("public_picture", public_picture_url)


@register.simple_tag
def look(element: str) -> SafeString:
    """Return the class and the style of an element, `<p {% look "p" %}>`. Raises KeyError for one that has no style."""
    return format_html('class="m-{}" style="{}"', element, list_styles()[element])


@register.simple_tag
def mail_colours(scheme: str) -> Mapping[str, str]:
    """Return the colours of mails in a scheme, "light" or "dark"."""
    return get_colours(scheme)
