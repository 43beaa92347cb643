"""Template filters for the texts and pictures of posts."""

import re

from django import template
from django.urls import reverse
from django.utils.html import escape, linebreaks
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from posts.entities import Post
from posts.mentions import MENTION

register = template.Library()


@register.filter
def alt_of(post: Post, picture: str) -> str:
    """Return the description of one of a post's pictures."""
    return post.alts.get(picture) or _("A picture by %(name)s") % {
        "name": post.name or _("a customer")
    }


@register.filter
def with_mentions(text: str) -> SafeString:
    """Return a person's text in paragraphs, in which each @handle is a link to that person's page."""
    linked = MENTION.sub(_link_mention, escape(text))
    return SafeString(linebreaks(linked, autoescape=False))


def _link_mention(found: re.Match[str]) -> str:
    address = reverse("posts:person", args=(found[1],))
    return f'<a href="{address}" rel="nofollow">@{found[1]}</a>'
