"""HTML of another shop becomes Markdown that shows the same words, and nothing that a page must not have."""

import html
import random
import re

import nh3
import pytest

from catalogue.descriptions import format_description, plain_description
from spreadsheets.foreign.markdown import MAX_TAGS, break_lines, html_to_markdown, is_html

EXAMPLES = {
    "<p>A <b>bold</b> and <em>soft</em> one.</p><h2>Care</h2>By<br>hand.": (
        "A **bold** and *soft* one.\n\n## Care\n\nBy\nhand."
    ),
    "<ul><li>a</li><li>b<ol><li>c<li>d</ol></li></ul><ul><li><p>e</p><p>f</p></ul>": (
        "- a\n- b\n  1. c\n  2. d\n- e\n\n  f"
    ),
    # Marks that touch letters are only marks beside a space or a letter.
    "<b>Material:</b>oak<b> waxed </b>": "**Material:** oak **waxed**",
    "<b>a</b><b>b</b><i>c</i>": "**ab** *c*",
    "<table><tr><th>Size</th><td>S</td></tr><tr><td>Waist</td><td>70</td></tr></table>": (
        "- Size | S\n- Waist | 70"
    ),
    "see <a href='https://x.example/a(b)?c=1&amp;d=2'>[this]</a>": (
        "see [\\[this\\]](https://x.example/a%28b%29?c=1&d=2)"
    ),
    "<a href='javascript:alert(1)'>x</a><a href='/pages/care'>y</a>": "xy",
    "<script>alert(1)</script><style>p{}</style><img src=x onerror=y><p onclick=z>z": "z",
    "<p>1. * not _a_ # list</p><p>- a_b 3 * 4 &amp;lt; &lt;b&gt;</p>": (
        "1\\. * not \\_a\\_ # list\n\n\\- a_b 3 * 4 \\&lt; \\<b>"
    ),
    "plain<br>- words": "plain\n\\- words",
}
TAGS = [
    "p",
    "b",
    "i",
    "em",
    "strong",
    "ul",
    "ol",
    "li",
    "h2",
    "br",
    "div",
    "table",
    "tr",
    "td",
    "a",
]
TEXTS = [*"a-#*_\\<+`!~]", "b.", "1. ", "* ", "[x](y)", "&amp;", " ", "€", "&lt;b&gt;", "**", "\n"]
TEXTS += ["&nbsp;", "&#42;", "https://x.example"]


def test_x534_html_is_written_as_our_markdown() -> None:
    for text, expected in EXAMPLES.items():
        assert html_to_markdown(text) == expected, text
    # WordPress shows the line breaks of a text.
    wordpress = "<b>a</b>\nb\n\n<ul\nclass=x>\n<li>c</li>\n</ul>"
    assert html_to_markdown(break_lines(wordpress)) == "**a**\nb\n\n- c"
    assert break_lines("a\nb") == "a\nb"
    assert [is_html(each) for each in ("a < b > c", "R&D;", "<br/>", "a &nbsp; b")] == [
        False,
        False,
        True,
        True,
    ]


def _letters(text: str) -> str:
    return re.sub(r"[\s|]", "", text)


@pytest.mark.parametrize("seed", range(3))
def test_x534_whatever_html_says_is_shown(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(600):
        parts = [
            chance.choice((f"<{chance.choice(TAGS)}>", f"</{chance.choice(TAGS)}>", text))
            for text in chance.choices(TEXTS, k=chance.randint(1, 9))
        ]
        typed = "<p>" + "".join(parts)
        words = html.unescape(nh3.clean(typed, tags=set()))
        shown = plain_description(html_to_markdown(typed))
        assert _letters(shown) == _letters(words), typed


def test_x534_hostile_html_is_bounded() -> None:
    for part in ("<b>", "<ul><li>x", "<table><td><b>", "<a href=//x><p>"):
        text = part * (MAX_TAGS // part.count("<"))
        page = format_description(html_to_markdown(text)[:20_000])
        assert "<script" not in page
    many = "<b>" * (MAX_TAGS + 1)
    assert html_to_markdown(many) == many
