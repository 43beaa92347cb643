"""The formatter lays a template out, and leaves the page as it is."""

from pathlib import Path

import pytest

from devtools.format_templates import WIDTH, FormatError, canonical, format_template, main

LONG = "word " * 30


def laid_out(*lines: str) -> str:
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("<ul><li>{% if a %}b{% endif %}</li></ul>", ("<ul>", "  <li>{% if a %}b{% endif %}</li>", "</ul>")),
        (
            "{% if a %}<p>b</p>{% else %}<p>c</p>{% endif %}",
            ("{% if a %}", "  <p>b</p>", "{% else %}", "  <p>c</p>", "{% endif %}"),
        ),
        # A space beside a tag stays, since a line break there would vanish.
        ("<p>{% if a %}b{% endif %} {% if c %}d{% endif %}</p>", ("<p>{% if a %}b{% endif %} {% if c %}d{% endif %}</p>",)),
        ("<p>{{ a }} <b>b</b>,\n<b>c</b></p>", ("<p>{{ a }} <b>b</b>, <b>c</b></p>",)),
        (
            f'<a class="{"x" * 60}" href="{{% url \'y\' %}}"{{% if z %}} rel="{"z" * 40}"{{% endif %}}>{{{{ a }}}}</a>',
            ("<a", f'  class="{"x" * 60}"', "  href=\"{% url 'y' %}\"", f'  {{% if z %}} rel="{"z" * 40}"{{% endif %}}', ">", "  {{ a }}", "</a>"),
        ),
        ("<p>{# Why #}a</p>", ("<p>", "  {# Why #}", "  a", "</p>")),
        ("<div><textarea>\n  a</textarea></div>", ("<div>", "  <textarea>", "  a</textarea>", "</div>")),
        (
            "<p>{% blocktranslate trimmed count n=n %}\n{{ n }} a\n{% plural %}\n{{ n }} b\n{% endblocktranslate %}</p>",
            ("<p>{% blocktranslate count n=n %}{{ n }} a{% plural %}{{ n }} b{% endblocktranslate %}</p>",),
        ),
    ],
)  # fmt: skip
def test_a_template_is_laid_out(source: str, lines: tuple[str, ...]) -> None:
    assert format_template(source) == laid_out(*lines)
    assert format_template(laid_out(*lines)) == laid_out(*lines)


@pytest.mark.parametrize("tag", ["{{% translate '{}' %}}", "{{% blocktranslate %}}{}{{% endblocktranslate %}}"])  # fmt: skip
def test_a_long_text_gets_lines_of_its_own_and_stays_the_same_message(tag: str) -> None:
    source = f"<p>{tag.format(f'100% {LONG}{LONG}end')}</p>"
    text = format_template(source)
    assert text.startswith("<p>\n  {% blocktranslate trimmed %}\n    100% word")
    assert max(map(len, text.splitlines())) <= WIDTH
    assert canonical(text) == canonical(source)
    assert format_template(text) == text


def test_a_text_whose_whitespace_matters_stays() -> None:
    source = "<p>{% blocktranslate %}\n  a\n{% endblocktranslate %}</p>"
    assert "{% blocktranslate %}\n  a\n{% endblocktranslate %}" in format_template(source)


def test_a_long_comment_gets_lines_of_its_own() -> None:
    text = format_template(f"{{# {LONG}#}}\n<p></p>")
    assert text.startswith("{% comment %}\n  word")
    assert format_template(text) == text


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("<p>\n</div>", 2),
        ("<div>\n{% if a %}</div>{% endif %}", 2),
        ("\n<b>", 2),
        ("{% endif %}", 1),
        ("{% else %}", 1),
    ],
)
def test_what_does_not_end_where_it_began_is_named(source: str, line: int) -> None:
    with pytest.raises(FormatError, match=f"line {line}:"):
        format_template(source)


def test_the_command_formats_or_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    page.write_text("<div><p>a</p></div>")
    assert main(["--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{page}: not formatted\n"
    assert main([str(page)]) == 0
    assert page.read_text() == "<div>\n  <p>a</p>\n</div>\n"
    assert main(["--check", str(tmp_path)]) == 0
    page.write_text(f"<p>{'a' * WIDTH}</p>")
    assert main([str(page)]) == 1
    assert capsys.readouterr().out == f"{page}: line 2 has {WIDTH + 2} characters\n"
