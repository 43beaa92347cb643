"""Markdown that staff write, as clean HTML.

The Markdown may have paragraphs, headings, lists, emphasis and links. Typed HTML is shown as text. A second library (nh3) cleans
the result.
"""

import re
from collections.abc import Callable

import nh3
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt

_TAGS = {"p", "br", "h2", "h3", "h4", "ul", "ol", "li", "strong", "em", "a"}
_ATTRIBUTES = {"a": {"href"}, "h2": {"id"}, "h3": {"id"}}
_SCHEMES = {"http", "https", "mailto", "tel"}
_BLOCKED = "image code fence blockquote hr lheading backticks html_block html_inline"
_markdown = MarkdownIt("commonmark", {"html": False, "breaks": True}).disable(_BLOCKED.split())
# A heading may end with the name by which links lead to it: "## Return an item {#returns}".
_ANCHOR = re.compile(r"\s*\{#([a-z][a-z0-9-]*)\}$")


def render_markdown(text: str, heading_level: Callable[[int], int]) -> SafeString:
    """Return a text as HTML. `heading_level` returns the level from 2 to 4 that a heading of a level from 1 to 6 gets."""
    tokens = _markdown.parse(text)
    for at, token in enumerate(tokens):
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{heading_level(int(token.tag[1:]))}"
        if token.type == "heading_open" and (children := tokens[at + 1].children):
            title, anchor = split_anchor(children[-1].content)
            children[-1].content = title
            if anchor:
                token.attrSet("id", anchor)
    html = _markdown.renderer.render(tokens, _markdown.options, {})
    return mark_safe(  # noqa: S308 -- nh3 has just cleaned the HTML
        nh3.clean(html, tags=_TAGS, attributes=_ATTRIBUTES, url_schemes=_SCHEMES)
    )


def split_anchor(heading: str) -> tuple[str, str]:
    """Return a heading's words and its anchor, or ""."""
    found = _ANCHOR.search(heading)
    return (heading[: found.start()], found[1]) if found else (heading, "")
