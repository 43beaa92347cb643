"""Lay out the templates: a block element per line, indented by nesting, at most 120 characters (decision 079).

    python -m devtools.format_templates            # write them
    python -m devtools.format_templates --check    # name those that differ, and lines that are too long

A line is broken only where the loader takes the break out again (`web/templates.py`). So the pages stay the same: each
template is compared with its former text, both collapsed, before it is written. One thing differs: a text to translate
that does not fit becomes `{% blocktranslate trimmed %}`, with the same message.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from django.template import TemplateSyntaxError

from devtools.layout import Choice, Doc, Fill, Group, Indent, Line, lay_out
from web.templates import (
    BRINGS_SPACE,
    HOLE,
    MESSAGE_PARTS,
    RAW_ELEMENTS,
    Gap,
    Kind,
    collapse,
    collapse_inside,
    element_name,
    has_content,
    is_block,
    tokens,
)

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120
MIDDLE_TAGS = frozenset(("else", "elif", "empty"))
# Each of them has a line of its own, whatever it holds.
_LINE_TAGS = frozenset(("block", "extends", "load", "partialdef"))
# So do these, unless one is all that an element holds.
_PART_TAGS = frozenset(("csrf_token", "include", "partial"))

# Django wants a tag on one line, and these have to name all that is there inside.
_LONG_TAG = re.compile(r"\s*\{% include .* only %\}")
_HARD = Line("", hard=True)
_SPACE_OUTSIDE_HOLES = re.compile(r"((?:\{\{.*?\}\}|\{%.*?%\}|<[^>]*>|\S)+)( ?)", re.DOTALL)
_TRANSLATE = re.compile(
    r"\{%\s*translate\s+(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\\\n])+)(?P=quote)(?:\s+as\s+(?P<name>\w+))?\s*%\}"
)
_START_TAG_PART = re.compile(
    rf"(?P<hole>{HOLE})|(?P<space>\s+)|(?P<quote>[\"'])|[^\s\"'{{]+|\{{", re.DOTALL
)


class FormatError(Exception):
    """A template that cannot be laid out: what is wrong with it, and in which line."""


# ---- Reading: the tree of elements and template tags


@dataclass(frozen=True)
class Joint:
    """What is between two neighbours: where a line may break, with what a break stands for; or whitespace that stays."""

    text: str
    can_break: bool
    has_blank_line: bool = False


@dataclass
class Node:
    """A token with what is inside it. A template tag has a branch for each of its `else`."""

    kind: Kind
    text: str
    line: int = 0
    branches: list[Branch] = field(default_factory=list)
    end: str = ""

    @property
    def name(self) -> str:
        return _tag_name(self.text) if self.kind is Kind.TAG else element_name(self.text)


@dataclass
class Branch:
    """Nodes side by side. There is a joint before each of them, and one at the end."""

    tag: str
    nodes: list[Node] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)


def parse(source: str) -> Branch:
    """Return a template's tree. Raises FormatError if an element or a tag does not end where it began."""
    try:
        found = list(tokens(source))
    except TemplateSyntaxError as error:
        raise FormatError(str(error)) from error
    return _Parser(found).parse()


class _Parser:
    def __init__(self, found: Sequence[tuple[Kind, str]]) -> None:
        self.found = found
        self.paired = {
            _tag_name(text)[3:] for kind, text in found if kind is Kind.TAG and _is_end_tag(text)
        }
        self.root = Branch("")
        self.open: list[Node] = []
        self.branch = self.root
        self.gap, self.comments = Gap(), list[str]()

    def parse(self) -> Branch:
        line = 1
        for kind, text in self.found:
            if kind is Kind.SPACE:
                self.gap.text += text
            elif kind is Kind.COMMENT:
                self.comments.append(text)
            else:
                self._join(*self.gap.end(kind, text))
                self._take(kind, text, line)
            line += text.count("\n")
        if self.open:
            raise FormatError(f"line {self.open[-1].line}: {self.open[-1].text} has no end")
        self._join(*self.gap.end())
        return self.root

    def _join(self, gap: str, broken: str) -> None:
        """Put down what was between the last token and this one; comments stand in lines of their own."""
        breaks = gap.count("\n")
        joint = Joint(
            broken if breaks else gap,
            bool(breaks) or gap == broken,
            breaks > 1 + len(self.comments),
        )
        for comment in self.comments:
            if not joint.can_break:
                raise FormatError(f"a comment needs a line of its own: {comment}")
            self.branch.joints.append(joint)
            self.branch.nodes.append(Node(Kind.COMMENT, comment))
        self.branch.joints.append(joint)
        self.comments = []

    def _take(self, kind: Kind, text: str, line: int) -> None:
        name = _tag_name(text) if kind is Kind.TAG else ""
        if kind is Kind.END or (kind is Kind.TAG and _is_end_tag(text)):
            self._close(kind, text, line)
        elif name in MIDDLE_TAGS:
            if not self.open or self.open[-1].kind is not Kind.TAG:
                raise FormatError(f"line {line}: {text} stands in no tag of its own")
            self.branch = Branch(text)
            self.open[-1].branches.append(self.branch)
        else:
            node = Node(kind, text, line)
            self.branch.nodes.append(node)
            if name in self.paired or (kind is Kind.START and has_content(text)):
                self.open.append(node)
                self.branch = Branch(text)
                node.branches.append(self.branch)

    def _close(self, kind: Kind, text: str, line: int) -> None:
        node = self.open.pop() if self.open else None
        wanted = (
            (Kind.START, element_name(text)) if kind is Kind.END else (kind, _tag_name(text)[3:])
        )
        if node is None or (node.kind, node.name) != wanted:
            begun = f"{node.text} of line {node.line}" if node else "nothing"
            raise FormatError(f"line {line}: {text} ends {begun}")
        node.end = text
        self.branch = self.open[-1].branches[-1] if self.open else self.root


def _tag_name(tag: str) -> str:
    return tag[2:-2].split(maxsplit=1)[0]


def _is_end_tag(tag: str) -> bool:
    return _tag_name(tag).startswith("end")


# ---- Laying out


def format_template(source: str) -> str:
    """Return a template laid out. Raises FormatError if it cannot be, or would no longer be the same page."""
    root = parse(source)
    text = lay_out(_branch_doc(root, in_lines=True), WIDTH).strip("\n") + "\n"
    if canonical(text) != canonical(source):
        raise FormatError("the formatted template would be another page")
    return text


def canonical(source: str) -> str:
    """Return what a template says: collapsed, with each text to translate written in one way."""
    collapsed = _TRANSLATE.sub(lambda found: _translate_parts(found)[0], collapse(source))
    return MESSAGE_PARTS.sub(lambda found: _message_parts(found)[0], collapsed)


def _is_line(node: Node) -> bool:
    """Tell whether a node stands in lines of its own."""
    if node.kind in (Kind.COMMENT, Kind.DOCTYPE) or (
        node.kind is Kind.TAG and node.name in _LINE_TAGS
    ):
        return True
    if node.kind is Kind.START and is_block(node.kind, node.text):
        return True
    return any(_is_in_lines(branch) for branch in node.branches)


def _is_in_lines(branch: Branch) -> bool:
    """Tell whether each node of a branch begins a line where it may."""
    if any(_is_line(node) for node in branch.nodes):
        return True
    return len(branch.nodes) > 1 and any(
        node.kind is Kind.TAG and node.name in _PART_TAGS for node in branch.nodes
    )


def _joint_doc(joint: Joint, *, in_lines: bool) -> Doc:
    if not joint.can_break:
        return joint.text
    if in_lines and not joint.text:
        return Line("", hard=True, blank=joint.has_blank_line)
    return Line(joint.text)


def _branch_doc(branch: Branch, *, in_lines: bool) -> Doc:
    """Return the nodes of a branch, without its first and last joint."""
    parts: list[Doc] = []
    for number, node in enumerate(branch.nodes):
        doc = _node_doc(node)
        if number:
            is_comment = Kind.COMMENT in (node.kind, branch.nodes[number - 1].kind)
            joint = branch.joints[number]
            separator = _HARD if is_comment else _joint_doc(joint, in_lines=in_lines)
            if isinstance(separator, Line):
                parts.append(separator)
            else:
                parts[-1] = [parts[-1], separator, doc]
                continue
        parts.append(doc)
    return Fill(tuple(parts))


def _node_doc(node: Node) -> Doc:
    if node.kind is Kind.START:
        doc = _start_tag_doc(node.text)
    elif node.kind is Kind.COMMENT:
        doc = _comment_doc(node.text)
    else:
        doc = _hole_doc(node.text)
    if not node.branches:
        return doc
    if node.kind is Kind.START and node.name in RAW_ELEMENTS:
        return [doc, *(inner.text for inner in node.branches[0].nodes), node.end]
    parts: list[Doc] = []
    for number, branch in enumerate(node.branches):
        parts.append(branch.tag if number else doc)
        if not branch.nodes:
            parts.append(branch.joints[0].text)
            continue
        in_lines = _is_in_lines(branch)
        first = _joint_doc(branch.joints[0], in_lines=in_lines)
        last = _joint_doc(branch.joints[-1], in_lines=in_lines)
        if isinstance(last, Line):
            last = Line(last.flat, last.hard)
        parts += [Indent([first, _branch_doc(branch, in_lines=in_lines)]), last]
    return Group([*parts, node.end])


def _start_tag_doc(tag: str) -> Doc:
    """Return a start tag: in one line, or with an attribute per line."""
    tag = collapse_inside(Kind.START, tag)
    closing = "/>" if tag.endswith("/>") else ">"
    name = tag[: 1 + len(element_name(tag))]
    head, *attributes = _attributes(tag[len(name) : -len(closing)].rstrip())
    lines = [part for line, attribute in attributes for part in (line, attribute)]
    if not lines:
        return [name, head[1], closing]
    return Group([name, head[1], Indent(lines), Line(""), closing])


def _attributes(text: str) -> list[tuple[Line, Doc]]:
    """Return what stands in a start tag, split where an attribute begins, each with the line before it.

    The first is what is glued to the element's name, most often nothing.
    """
    found: list[tuple[Line, list[Doc]]] = [(Line(""), [""])]
    quote, depth = "", 0
    for part in _START_TAG_PART.finditer(text):
        piece = part[0]
        if part["space"]:
            if piece != " " or BRINGS_SPACE.match(text, part.end()):
                _glue(found[-1][1], piece)
            elif quote or depth:
                found[-1][1].extend([Line(" "), ""])
            else:
                found.append((Line(" "), [""]))
            continue
        if part["quote"] and quote in ("", piece):
            quote = "" if quote else piece
        brings_space = BRINGS_SPACE.match(text, part.start()) and not text[: part.start()].endswith(
            " "
        )
        if brings_space and not depth:
            if not quote:
                found.append((Line(""), [""]))
            elif found[-1][1][-1] != "":
                found[-1][1].extend([Line(""), ""])
        if piece.startswith("{%"):
            name = _tag_name(piece)
            depth += (name in ("if", "for", "with")) - name.startswith("end")
        _glue(found[-1][1], _hole_doc(piece) if part["hole"] else piece)
    return [
        (line, pieces[0] if len(pieces) == 1 else Group(Indent(Fill(tuple(pieces)))))
        for line, pieces in found
    ]


def _glue(pieces: list[Doc], doc: Doc) -> None:
    pieces[-1] = [pieces[-1], doc] if pieces[-1] != "" else doc


def _hole_doc(text: str) -> Doc:
    if found := _TRANSLATE.fullmatch(text):
        return Choice(text, _translate_parts(found)[1])
    if found := MESSAGE_PARTS.fullmatch(text):
        flat, doc = _message_parts(found)
        return doc if isinstance(doc, str) else Choice(flat, doc)
    return text


def _comment_doc(text: str) -> Doc:
    """Return a comment as it is, or as lines between `{% comment %}` and `{% endcomment %}`."""
    if text.startswith("{#"):
        lines = [text[2:-2].strip()]
    else:
        inner = re.sub(r"^\{%.*?%\}|\{%\s*endcomment\s*%\}$", "", text, flags=re.DOTALL)
        lines = [line.strip() for line in inner.strip().split("\n")]
    docs: list[Doc] = []
    for line in lines:
        docs += [_HARD, Fill(tuple(_words(line)))]
    long = Group(["{% comment %}", Indent(docs), _HARD, "{% endcomment %}"])
    return Choice(f"{{# {lines[0]} #}}", long) if len(lines) == 1 else long


# ---- Texts to translate


def _translate_parts(found: re.Match[str]) -> tuple[str, Doc]:
    text, name = found["text"], found["name"]
    tag = f"{{% blocktranslate{f' asvar {name}' if name else ''} %}}"
    if text != text.strip() or "{" in text:
        return found[0], found[0]
    whole = f"{tag}{text}{{% endblocktranslate %}}"
    match = MESSAGE_PARTS.fullmatch(whole)
    assert match
    return _message_parts(match)


def _message_parts(found: re.Match[str]) -> tuple[str, Doc]:
    """Return a message in one line, and in lines of its own. Both are the message as it is if its whitespace matters."""
    tag, one, plural, many, _ = found.groups()
    words = tag[2:-2].split()
    parts = [one] if many is None else [one, many]
    if "trimmed" in words:
        parts = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in parts]
    elif any("\n" in part or part != part.strip() for part in parts):
        return found[0], found[0]
    options = re.sub(r"\s+trimmed\b", "", tag[2:-2]).strip().removeprefix("blocktranslate")
    flat = f"{{% blocktranslate{options} %}}{parts[0]}"
    lines: list[Doc] = [
        f"{{% blocktranslate trimmed{options} %}}",
        Indent([_HARD, Fill(tuple(_words(parts[0])))]),
    ]
    if plural:
        flat += f"{{% plural %}}{parts[1]}"
        lines += [_HARD, "{% plural %}", Indent([_HARD, Fill(tuple(_words(parts[1])))])]
    return flat + "{% endblocktranslate %}", [*lines, _HARD, "{% endblocktranslate %}"]


def _words(text: str) -> Iterator[Doc]:
    """Yield words and the lines between them. Variables and tags inside a text stay whole."""
    word = ""
    for found in _SPACE_OUTSIDE_HOLES.finditer(text):
        word += found[1]
        rest = text[found.end() : found.end() + 1]
        if found[2] and rest.strip():
            yield word
            yield Line(" ")
            word = ""
        else:
            word += found[2] + re.match(r"\s*", text[found.end() :])[0]  # type: ignore[index]
    yield word


# ---- The command


def main(arguments: Sequence[str] | None = None) -> int:
    """Format the templates, or with `--check` name those that are not formatted. Return 1 if something is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "templates"])
    options = parser.parse_args(arguments)
    wrong = 0
    for path in options.paths:
        for file in sorted(path.rglob("*.html")) if path.is_dir() else [path]:
            for complaint in _format_file(file, check=options.check):
                print(f"{file}: {complaint}")
                wrong += 1
    return min(wrong, 1)


def _format_file(path: Path, *, check: bool) -> Iterator[str]:
    source = path.read_text()
    try:
        text = format_template(source)
    except FormatError as error:
        yield str(error)
        return
    if check and text != source:
        yield "not formatted"
    elif text != source:
        path.write_text(text)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > WIDTH and not _LONG_TAG.fullmatch(line):
            yield f"line {number} has {len(line)} characters"


if __name__ == "__main__":
    sys.exit(main())
