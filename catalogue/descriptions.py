"""A product's description: what staff write, as a page shows it and as plain words.

They write Markdown, of which little is allowed: paragraphs, headings, lists, emphasis and links. HTML that is typed is
text. What comes out goes through a second library, which lets nothing else into a page.
"""

from functools import lru_cache
from html import unescape

import nh3
from django.utils.html import strip_tags
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

# Below the page's own headings.
_TAGS = {"p", "br", "h3", "h4", "ul", "ol", "li", "strong", "em", "a"}
_SCHEMES = {"http", "https", "mailto", "tel"}
_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(
    [
        "image",
        "code",
        "fence",
        "blockquote",
        "hr",
        "lheading",
        "backticks",
        "html_block",
        "html_inline",
    ]
)


@lru_cache(maxsize=512)
def format_description(text: str) -> SafeString:
    """Return a description as HTML for a page: one level of headings is `h3`, all below it `h4`."""
    tokens = _markdown.parse(text)
    for token in tokens:
        if token.tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            token.tag = "h3" if token.tag in ("h1", "h2") else "h4"
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return mark_safe(  # noqa: S308 -- nh3 has just cleaned it
        nh3.clean(html, tags=_TAGS, attributes={"a": {"href"}}, url_schemes=_SCHEMES)
    )


def plain_description(text: str) -> str:
    """Return the words of a description, for search engines, feeds and the index."""
    return " ".join(unescape(strip_tags(format_description(text))).split())
