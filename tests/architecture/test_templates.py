"""Templates: nothing inline, nothing marked safe, every htmx attribute on a real link or form."""

import re
from pathlib import Path

from tests.architecture.apps import ROOT, relative_path
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
