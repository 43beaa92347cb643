"""Descriptions: what staff may format, and what never reaches a page."""

from catalogue.descriptions import format_description, plain_description
from tests.rules import for_each

_LINK = '<a href="{}" rel="noopener noreferrer">'
FORMATTED = {
    "Soft *and* **warm**": "<p>Soft <em>and</em> <strong>warm</strong></p>",
    "one\ntwo\n\nthree": "<p>one<br>\ntwo</p>\n<p>three</p>",
    "- a\n- b": "<ul>\n<li>a</li>\n<li>b</li>\n</ul>",
    "# Care\n### Wash": "<h3>Care</h3>\n<h4>Wash</h4>",
    "a & b < c": "<p>a &amp; b &lt; c</p>",
    "[out](https://example.com/?a=1&b=2)": f"<p>{_LINK.format('https://example.com/?a=1&amp;b=2')}out</a></p>",
    "<script>alert(1)</script>": "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
    "[bad](javascript:alert(1))": "<p>[bad](javascript:alert(1))</p>",
    "[bad](data:text/html,x)": "<p>[bad](data:text/html,x)</p>",
    '[x](https://e.com "onclick=x()")': '<p><a href="https://e.com" title="onclick=x()" rel="noopener noreferrer">x</a></p>',
    "![spy](https://e.com/1.gif)": f"<p>!{_LINK.format('https://e.com/1.gif')}spy</a></p>",
    "": "",
}


@for_each(FORMATTED.items(), at_least=12)
def test_s81_a_description_is_formatted_and_nothing_else_gets_into_the_page(
    case: tuple[str, str],
) -> None:
    text, html = case
    assert format_description(text).strip() == html


def test_its_words_alone_have_no_marks() -> None:
    found = plain_description("# Care\nWash *cold*, [see](https://e.com) a < b")
    assert found == "Care Wash cold, see a < b"
