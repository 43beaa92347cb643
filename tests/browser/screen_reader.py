"""A screen reader: what the browser's accessibility tree says of a page, in the order in which it is read.

It knows roles, names and states, and nothing of where things are or how they look. What it does, it does as its user: it goes to
something by role and name, and presses a key.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Page

from tests.waiting import wait_until

# What is in these is their name, and is not read twice.
_READ_AS_ONE = {
    "button", "checkbox", "combobox", "DisclosureTriangle", "heading", "image", "link", "MenuListPopup", "radio", "spinbutton", "textbox",
}  # fmt: skip


@dataclass(frozen=True)
class Spoken:
    """Something of a page, as it is said: role, name, description, value and states; `node` is what the browser knows it by."""

    role: str
    name: str
    description: str
    value: str
    states: dict[str, Any]
    node: int

    def is_like(self, role: str, name: str) -> bool:
        return self.role == role and bool(re.search(name, self.name))


class ScreenReader:
    """Reads a page, and acts on it by keys."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._browser = page.context.new_cdp_session(page)
        self._browser.send("Accessibility.enable")

    def read_all(self) -> list[Spoken]:
        """Return all that there is to be read, from top to bottom."""
        nodes = self._browser.send("Accessibility.getFullAXTree")["nodes"]
        return list(_read(nodes[0], {each["nodeId"]: each for each in nodes}))

    def assert_reads(self, *wanted: tuple[str, str]) -> None:
        """Fail unless the page reads like that: roles and names (by regular expressions) in this order, with anything in between."""
        missing: list[tuple[str, str]] = []

        def reads() -> bool:
            spoken = iter(self.read_all())
            missing[:] = [each for each in wanted if not any(one.is_like(*each) for one in spoken)]
            return not missing

        try:
            wait_until(reads)
        except AssertionError:
            read = "\n".join(f"{each.role}: {each.name}" for each in self.read_all())
            raise AssertionError(f"{missing[0]} is not read, or not there:\n{read}") from None

    def find(self, role: str, name: str) -> Spoken:
        """Return the first thing of that role and name, waiting for it."""
        found: Spoken = wait_until(
            lambda: next((each for each in self.read_all() if each.is_like(role, name)), None)
        )
        return found

    def get_focused(self) -> Spoken:
        """Return what has the focus, which is what is said after a step."""
        found: Spoken = wait_until(
            lambda: next(
                (
                    each
                    for each in self.read_all()
                    if each.states.get("focused") and each.role != "RootWebArea"
                ),
                None,
            )
        )
        return found

    def get_announced(self) -> Spoken:
        """Return the page's live region, with what stands in it as its name."""
        spoken = self.read_all()
        (region,) = [each for each in spoken if each.states.get("live") and each.role == "status"]
        return region

    def press(self, role: str, name: str, key: str = "Enter") -> None:
        """Go to something and press a key."""
        self._go_to(role, name)
        self.page.keyboard.press(key)

    def type(self, role: str, name: str, text: str) -> None:
        """Go to a field and type, in place of what is in it."""
        self._go_to(role, name)
        if role == "textbox":
            self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def _go_to(self, role: str, name: str) -> None:
        wanted = self.find(role, name)
        self._browser.send("DOM.focus", {"backendNodeId": wanted.node})
        assert self.get_focused().node == wanted.node, f"{role} {name} does not take the focus"


def _read(node: dict[str, Any], nodes: dict[str, dict[str, Any]]) -> Iterator[Spoken]:
    role = str(node.get("role", {}).get("value", ""))
    children = [nodes[each] for each in node.get("childIds", ()) if each in nodes]
    if not node.get("ignored"):
        states = {each["name"]: each["value"].get("value") for each in node.get("properties", ())}
        name = _text(node, "name")
        if role == "status":
            name = " ".join(
                each.name for child in children for each in _read(child, nodes) if each.name
            )
        yield Spoken(
            role,
            name,
            _text(node, "description"),
            _text(node, "value"),
            states,
            int(node.get("backendDOMNodeId", 0)),
        )
        if role in _READ_AS_ONE:
            return
    for child in children:
        yield from _read(child, nodes)


def _text(node: dict[str, Any], name: str) -> str:
    return str(node.get(name, {}).get("value", "")).strip()
