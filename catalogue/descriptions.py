"""A product's description: staff write Markdown; pages show HTML, and search engines get plain words.

The Markdown may have paragraphs, headings, lists, emphasis and links. Typed HTML is shown as text. A second library (nh3) cleans
the result.
"""

from functools import lru_cache
from html import unescape

import nh3
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# Headings in a description have lower levels than the page's own headings.
_TAGS = {"p", "br", "h3", "h4", "ul", "ol", "li", "strong", "em", "a"}
_SCHEMES = {"http", "https", "mailto", "tel"}
_BLOCKED = "image code fence blockquote hr lheading backticks html_block html_inline"
_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(_BLOCKED.split())


@lru_cache(maxsize=512)
def format_description(text: str) -> SafeString:
    """Return a description as HTML for a page. Headings of the first two levels become `h3`, all others `h4`."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            token.tag = "h3" if token.tag in ("h1", "h2") else "h4"
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return mark_safe(  # noqa: S308 -- nh3 has just cleaned the HTML
        nh3.clean(html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes=_SCHEMES)
    )


def plain_description(text: str) -> str:
    """Return a description as plain words, for search engines, feeds and the search index."""
    return " ".join(unescape(strip_tags(format_description(text))).split())
