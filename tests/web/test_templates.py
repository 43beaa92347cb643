"""The loader takes out a template's indentation, and nothing else."""

import pytest
from django.template import TemplateSyntaxError
from django.template.loader import get_template

from tests.architecture.apps import ROOT
from web.templates import collapse, tokens


@pytest.mark.parametrize(
    ("source", "collapsed"),
    [
        ("<div>\n  <p>\n    Words\n  </p>\n</div>\n", "<div><p>Words</p></div>"),
        ("{% if a %}\n  {{ a }}\n{% endif %}\n", "{% if a %}{{ a }}{% endif %}"),
        ("<p>of\n  words,\n  <b>bold</b>\n  {{ a }}\n  {{ b }}</p>", "<p>of words, <b>bold</b> {{ a }} {{ b }}</p>"),
        ("<b>\n  <i>\n    a\n  </i>\n  b\n</b>", "<b><i>a</i> b</b>"),
        ("<label>\n  <input>\n  Text\n</label>", "<label><input> Text</label>"),
        ('<i>a</i>\n<input type="hidden">\n<i>b</i>', '<i>a</i><input type="hidden"><i>b</i>'),
        ("{{ form.a.as_field_group }}\n{{ form.b.as_field_group }}", "{{ form.a.as_field_group }}{{ form.b.as_field_group }}"),
        ("<p> {% a %}  {% b %} </p>", "<p> {% a %}  {% b %} </p>"),
        ('<a\n  class="x\n    y"\n  href="{% url \'a>\' %}"\n>b</a>', '<a class="x y" href="{% url \'a>\' %}">b</a>'),
        ('<a\n  b="c"\n  {% if d %} e{% endif %}\n  {% if f %}g{% endif %}\n>', '<a b="c"{% if d %} e{% endif %} {% if f %}g{% endif %}>'),
        ("a\n{# Why #}\nb\n<p>\n{% comment %}\n  Why\n{% endcomment %}\n</p>", "a b<p></p>"),
        ("<pre>\n a\n  b</pre>\n<textarea\n  name=\"c\"\n>\n d</textarea>", '<pre>\n a\n  b</pre><textarea name="c">\n d</textarea>'),
        ("{% blocktranslate %}\n a\n{% endblocktranslate %}\nb", "{% blocktranslate %}\n a\n{% endblocktranslate %}b"),
        (
            "{% blocktranslate trimmed count n=n %}\n  one\n  <p>\n{% plural %}\n  many\n{% endblocktranslate %}",
            "{% blocktranslate trimmed count n=n %}one <p>{% plural %}many{% endblocktranslate %}",
        ),
        (
            '<a\n  title="{% blocktranslate trimmed %}\n    a\n    b\n  {% endblocktranslate %}"\n>',
            '<a title="{% blocktranslate trimmed %}a b{% endblocktranslate %}">',
        ),
    ],
)  # fmt: skip
def test_a_line_break_becomes_a_space_or_vanishes(source: str, collapsed: str) -> None:
    assert "".join(text for _, text in tokens(source)) == source
    assert collapse(source) == collapsed
    assert collapse(collapsed) == collapsed


def test_what_is_no_html_is_named_with_its_line() -> None:
    with pytest.raises(TemplateSyntaxError, match="line 2"):
        collapse('<p>\n<a href="></p>\n')


def test_the_loader_collapses_pages_and_mails_but_no_texts() -> None:
    for name in ("base.html", "mail/base.html"):
        source = (ROOT / "templates" / name).read_text()
        assert get_template(name).template.source == collapse(source) != source  # type: ignore[attr-defined]
    text = "mail/order.txt"
    assert get_template(text).template.source == (ROOT / "templates" / text).read_text()  # type: ignore[attr-defined]
