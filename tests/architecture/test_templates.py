"""Templates: nothing inline, nothing marked safe, every htmx attribute on a real link or form."""

import re
from pathlib import Path

from tests.architecture.apps import ROOT, relative_path
from tests.architecture.template_names import (
    Include,
    Reader,
    list_templates,
    read_parameters,
    read_template,
)
from tests.rules import for_each

TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*.html"))
PAGES = [path for path in TEMPLATES if "mail" not in path.relative_to(ROOT / "templates").parts[0]]
REQUESTS = [
    (path, tag)
    for path in PAGES
    for tag in re.findall(
        r"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*\bhx-(?:get|post)=(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>",
        path.read_text(),
    )
]
POST_FORMS = [
    (path, form)
    for path in PAGES
    for form in re.findall(r"<form\b.*?</form>", path.read_text(), re.DOTALL)
    if 'method="post"' in form
]
READERS = {name: read_template(name) for name in list_templates()}
INCLUDES = [
    each
    for reader in READERS.values()
    for each in reader.includes
    if not each.part.startswith("django/")
]
PARTS = sorted({each.part for each in INCLUDES})


@for_each(PAGES, relative_path, at_least=130)
def test_nothing_is_inline_and_nothing_is_marked_safe(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\sstyle\s*=", text)
    assert not re.search(r"<style[\s>]", text)
    assert not re.search(r"\son[a-z]+\s*=", text)
    assert not re.search(r"\|\s*safe\b|autoescape off|hx-on|\bjs:", text)
    for script in re.findall(r"<script\b[^>]*>", text):
        assert "src=" in script or 'type="application/ld+json"' in script


@for_each(REQUESTS, lambda request: f"{relative_path(request[0])}: {request[1]}", at_least=28)
def test_x1_each_htmx_request_sits_on_a_real_link_or_form(request: tuple[Path, str]) -> None:
    _, tag = request
    name = re.match(r"<(\w+)", tag)[1]  # type: ignore[index]
    refreshes_itself = 'hx-trigger="' in tag and ("every" in tag or "load" in tag)
    in_a_form = name in {"input", "select", "button"}
    assert name in {"a", "form"} or refreshes_itself or in_a_form, (
        "it does nothing without JavaScript"
    )
    if name == "a":
        assert "href=" in tag, "it leads nowhere without JavaScript"
    if name == "form":
        assert "method=" in tag
        assert "action=" in tag
    assert "hx-target=" in tag, "it does not say where its answer goes"


@for_each(
    [path for path in PAGES if path.relative_to(ROOT / "templates").parts[0] != "demo"],
    relative_path,
    at_least=120,
)
def test_x13_no_button_is_left_to_look_as_the_browser_has_it(path: Path) -> None:
    text = path.read_text()
    # In a cart's menu and on the way of Enter they are told by what is around them, or are not seen.
    bare = re.findall(r"<button(?![^>]*\b(?:class=\"|hidden\b))[^>]*>", text)
    assert not bare or path.name == "_tools.html"
    assert not re.search(r'<button[^>]*class="link', text), "that is a link's class"


@for_each(POST_FORMS, lambda form: f"{relative_path(form[0])}: {form[1][:80]}", at_least=165)
def test_x284_each_form_that_posts_carries_a_token(form: tuple[Path, str]) -> None:
    # It may stand in a part of the form. What is sent again holds the token that was sent.
    assert "csrf_token" in form[1] or form[0].name == "_send_again.html"


@for_each(PARTS, at_least=90)
def test_x284_a_parts_first_comment_names_what_it_takes(part: str) -> None:
    takes = read_parameters((ROOT / "templates" / part).read_text())
    assert takes is not None, "its first line is no comment that begins with “Takes …”"
    assert takes.keys() == READERS[part].names


@for_each(INCLUDES, lambda each: f"{each.template} includes {each.part}", at_least=370)
def test_x284_an_include_passes_what_the_part_takes_and_nothing_else(include: Include) -> None:
    assert include.is_isolated, "without `only` the part sees all names that are there"
    takes = read_parameters((ROOT / "templates" / include.part).read_text()) or {}
    assert include.passed <= takes.keys(), "the part knows no such name"
    assert {name for name, required in takes.items() if required} <= include.passed


@for_each(list(READERS.values()), lambda reader: reader.template, at_least=270)
def test_x114_what_stands_in_a_fragment_reads_its_view_object_and_its_blanks_alone(
    reader: Reader,
) -> None:
    assert reader.unnamed == set()


def test_x284_a_name_that_only_a_parts_own_part_reads_would_be_missed() -> None:
    """Or a test that finds no name of a template would do."""
    names = READERS["cart/_line.html"].names
    assert {"csrf_token", "line", "operation"} <= names
    assert not names & {"forloop", "quantity_label", "value"}
    assert ("card", "product") in READERS["catalogue/_card.html"].of_views
