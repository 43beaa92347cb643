"""All addresses of the shop, from the URLconf; and who may open the staff's, from the table of docs/operations/running.md."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver

from tests.architecture.apps import ROOT

# What stands in an address, when it does not matter what it leads to.
_ANY = {"uuid": "2f1f7a52-5d0c-4d52-9f5a-6a2f3b1c9d10", "int": "7"}
_ANY |= dict.fromkeys(("slug", "str", "path"), "any")


@dataclass(frozen=True)
class Route:
    """A view's address: its name, what it is made of (`orders/<str:number>/`), and the view."""

    name: str
    pattern: str
    view: Any

    @property
    def sample_path(self) -> str:
        """An address of it that leads to nothing in particular."""
        return re.sub(r"<(\w+):\w+>", lambda found: _ANY[found[1]], f"/{self.pattern}")

    @property
    def access(self) -> str:
        """Whom its view declares that it is for; nothing if it does not."""
        return getattr(self.view, "access", "")

    @property
    def roles(self) -> set[str]:
        """The roles that its view names."""
        return set(getattr(self.view, "roles", ()))


def _routes(patterns: Any, space: str = "", before: str = "") -> Iterator[Route]:
    for each in patterns:
        if isinstance(each, URLResolver):
            inner = f"{space}{each.namespace}:" if each.namespace else space
            yield from _routes(each.url_patterns, inner, f"{before}{each.pattern}")
        elif isinstance(each, URLPattern):
            yield Route(f"{space}{each.name}", f"{before}{each.pattern}", each.callback)


ROUTES = tuple(_routes(get_resolver().url_patterns))


def _roles_by_url() -> dict[str, set[str]]:
    text = (
        (ROOT / "docs" / "operations" / "running.md")
        .read_text()
        .partition("## Who may what")[2]
        .partition("\n## ")[0]
    )
    table = [line.strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line] for line in table]
    return {
        (name if ":" in name else f"adminpanel:{name}"): {
            role for role, mark in zip(header[2:], marks, strict=True) if mark == "yes"
        }
        for _, names, *marks in rows
        for name in re.findall(r"`([\w:]+)`", names)
    }


# By an address' name: the roles whose work it is.
ROLES_BY_URL = _roles_by_url()
