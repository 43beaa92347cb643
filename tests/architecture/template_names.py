"""Which names a template reads from its context and does not bind itself, by Django's own parser."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.template import Engine
from django.template.base import FilterExpression, Node, TokenType, Variable
from django.template.defaulttags import CsrfTokenNode, ForNode, WithNode
from django.template.loader_tags import BlockNode, IncludeNode
from django.templatetags.i18n import BlockTranslateNode
from template_partials.templatetags.partials import RenderPartialNode

from tests.architecture.apps import ROOT
from web.templatetags.fragments import FragmentNode

TEMPLATES = ROOT / "templates"
# By these attributes tags name what they set: {% url … as %}, {% translate … as %}, {% some_tag … as %}.
_BINDS = ("asvar", "target_var", "variable_name", "var_name")
_TAKES = re.compile(r"\{(?:#|% comment %\})\s*Takes (?P<names>[\w\s,?]+)\.")


@dataclass(frozen=True)
class Include:
    """An include: the template it is in, the part that it draws, the names it passes, and whether the part sees nothing else."""

    template: str
    part: str
    passed: frozenset[str]
    is_isolated: bool


class Reader:
    """Reads a template: the names that it takes from its context, and its includes."""

    def __init__(self, template: str) -> None:
        self.template = template
        self.names: set[str] = set()
        self.includes: list[Include] = []
        # What is read inside a fragment that is neither its view object nor a blank: it is never there.
        self.unnamed: set[str] = set()
        # What is read of something, as its name and the attribute's; of a view object in its fragment as `of_views`.
        self.attributes: set[tuple[str, str]] = set()
        self.of_views: set[tuple[str, str]] = set()

    def read(self, thing: Any, bound: set[str]) -> None:
        """Note what a node, an expression or a collection of them reads. A tag's `as` is added to `bound`."""
        if isinstance(thing, Node):
            self._read_node(thing, bound)
        elif isinstance(thing, FilterExpression):
            self.read(thing.var, bound)
            self.read([value for _, arguments in thing.filters for _, value in arguments], bound)
        elif isinstance(thing, Variable):
            self._read_path(thing.lookups or (), bound | {"True", "False", "None"})
        elif isinstance(thing, Mapping):
            self.read(list(thing.values()), bound)
        elif isinstance(thing, (list, tuple)):
            for each in thing:
                self.read(each, bound)
        elif type(thing).__module__ in ("django.template.defaulttags", "django.template.smartif"):
            self.read(vars(thing), bound)  # a condition

    def _read_path(self, path: Sequence[str], bound: Set[str | None]) -> None:
        if path and path[0] not in bound:
            self.names.add(path[0])
            self.attributes.update({(path[0], path[1])} if path[1:] else ())

    def _read_node(self, node: Node, bound: set[str]) -> None:
        if isinstance(node, ForNode):
            self.read(node.sequence, bound)
            self.read(node.nodelist_loop, {*bound, *node.loopvars, "forloop"})
            self.read(node.nodelist_empty, bound)
        elif isinstance(node, WithNode):
            self.read(node.extra_context, bound)
            self.read(node.nodelist, {*bound, *node.extra_context})
        elif isinstance(node, BlockTranslateNode):
            self._read_message(node, bound)
        elif isinstance(node, FragmentNode):
            self.read([each for _, _, each in node.blanks], bound)
            self.names |= {node.view_name} - bound - {""}
            inside = Reader(self.template)
            inside.read(node.nodelist, set())
            self.includes += inside.includes
            known = {node.view_name, *(path[0] for path, _, _ in node.blanks)}
            self.unnamed |= inside.names - known | inside.unnamed
            self.of_views |= {each for each in inside.attributes if each[0] == node.view_name}
        elif isinstance(node, IncludeNode):
            self.read([node.template, node.extra_context], bound)
            # The parts of the front page are chosen by its blocks, and each is passed the same.
            if isinstance(part := node.template.var, str):
                passed = frozenset(node.extra_context)
                self.includes.append(
                    Include(self.template, "".join(part), passed, node.isolated_context)
                )
        elif isinstance(node, CsrfTokenNode):
            self.names.update({"csrf_token"} - bound)
        elif isinstance(node, BlockNode):
            self.read(node.nodelist, set(bound))
        elif not isinstance(node, RenderPartialNode):  # it was read where it is defined
            kept = {name: value for name, value in vars(node).items() if name != "blocks"}
            self.read(kept, bound)  # the blocks of {% extends %} are in its nodelist, too
            bound.update(
                name for each in _BINDS if isinstance(name := getattr(node, each, None), str)
            )

    def _read_message(self, node: BlockTranslateNode, bound: set[str]) -> None:
        self.read([node.extra_context, node.counter], bound)
        tokens = [*node.singular, *(node.plural or [])]
        for each in tokens:
            if each.token_type == TokenType.VAR:
                path = each.contents.partition("|")[0].split(".")
                self._read_path(path, bound | {*node.extra_context, node.countervar})
        bound.update({node.asvar} if node.asvar else ())


def list_templates() -> list[str]:
    """Return the names of all templates."""
    return [path.relative_to(TEMPLATES).as_posix() for path in sorted(TEMPLATES.rglob("*.*"))]


def read_template(template: str) -> Reader:
    """Return what a template reads, by its name."""
    reader = Reader(template)
    reader.read(Engine.get_default().get_template(template).nodelist, set())
    return reader


def read_parameters(source: str) -> dict[str, bool] | None:
    """Return what a part's first comment says that it takes, and whether each must be passed; None if it says nothing."""
    if not (found := _TAKES.match(source)):
        return None
    names = [] if found["names"] == "nothing" else re.split(r",\s+", found["names"])
    return {name.removesuffix("?"): not name.endswith("?") for name in names}
