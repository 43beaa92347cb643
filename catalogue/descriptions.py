"""A product's description: staff write Markdown; pages show HTML, and search engines get plain words."""

from functools import lru_cache
from html import unescape

from django.utils.html import strip_tags
from django.utils.safestring import SafeString

from web.markdown import render_markdown


@lru_cache(maxsize=512)
def format_description(text: str) -> SafeString:
    """Return a description as HTML for a page. Headings of the first two levels become `h3`, all others `h4`."""
    return render_markdown(text, lambda level: 3 if level < 3 else 4)


def plain_description(text: str) -> str:
    """Return a description as plain words, for search engines, feeds and the search index."""
    return " ".join(unescape(strip_tags(format_description(text))).split())
