"""Formats the templates: a block element per line, indented by nesting, at most 120 characters (decision 079).

    python -m devtools.format_templates            # write the formatted templates
    python -m devtools.format_templates --check    # name unformatted templates, and lines that are too long

A line is broken only where the template loader removes the break (`web/templates.py`). So the pages stay the same: each template
is compared with its former text, both without these breaks, before it is written. There is one exception: a `{% translate %}` that
is too long for a line becomes `{% blocktranslate trimmed %}`, with the same message.
"""

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from django.template import TemplateSyntaxError

from devtools.layout import Choice, Doc, Fill, Group, Indent, Line, Printer
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
_MIDDLE_TAGS = frozenset(("else", "elif", "empty"))
# Tags that always have a line of their own.
_LINE_TAGS = frozenset(("block", "extends", "load", "partialdef"))
# Tags that have a line of their own, unless the tag is the only content of an element.
_PART_TAGS = frozenset(("csrf_token", "include", "partial"))

# This tag may be longer than a line: a tag cannot be broken, and an include names every variable that its template uses.
_LONG_TAG = re.compile(r"\s*\{% include .* only %\}")
_HARD = Line(hard=True)
# A word ends at a single space. Variables, tags and wider whitespace are parts of a word.
_WORD = re.compile(r"(?:\{\{.*?\}\}|\{%.*?%\}|<[^>]*>|\S|\s{2,}|[^\S ])+", re.DOTALL)
_TRANSLATE = re.compile(
    r"\{%\s*translate\s+(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\\\n])+)(?P=quote)(?:\s+as\s+(?P<name>\w+))?\s*%\}"
)
_START_TAG_PART = re.compile(
    rf"(?P<hole>{HOLE})|(?P<space>\s+)|(?P<quote>[\"'])|[^\s\"'{{]+|\{{", re.DOTALL
)
# The gap between two neighbouring nodes: a place where a line may break, or whitespace that stays.
Joint = Line | str


class FormatError(Exception):
    """A template cannot be formatted. The error's text has the reason and the line."""


@dataclass
class Branch:
    """Nodes that follow each other. A joint (a possible break, or whitespace) is before each node and after the last."""

    tag: str
    nodes: list["Node"] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)


@dataclass
class Node:
    """A token with its content. A template tag has a further branch for each `else` or `elif`. The root has no kind."""

    kind: Kind | None
    text: str
    line: int = 0
    branches: list[Branch] = field(default_factory=list)
    end: str = ""

    @property
    def name(self) -> str:
        return _tag_name(self.text) if self.kind is Kind.TAG else element_name(self.text)

    def is_ended_by(self, kind: Kind | None, text: str) -> bool:
        if kind is Kind.END:
            return self.kind is Kind.START and self.name == element_name(text)
        return self.kind is kind and (kind is None or f"end{self.name}" == _tag_name(text))


def _parse(source: str) -> Branch:
    """Return a template's tree of nodes. Raises FormatError if an element or a tag does not end where it began."""
    try:
        pieces = list(_pieces(source))
    except TemplateSyntaxError as error:
        raise FormatError(str(error)) from error
    tags = {_tag_name(text) for _, kind, text, _ in pieces if kind is Kind.TAG}
    root = Node(None, "")
    _read_inside(root, iter(pieces), {tag for tag in tags if f"end{tag}" in tags})
    return root.branches[0]


def _pieces(source: str) -> Iterator[tuple[Joint, Kind | None, str, int]]:
    """Yield each token except whitespace, with the joint before it and its line number. The last item has no kind.

    A comment is always on a line of its own.
    """
    gap, comments, line = Gap(), list[str](), 1
    for kind, text in (*tokens(source), (None, "")):
        if kind is Kind.SPACE:
            gap.text += text
        elif kind is Kind.COMMENT:
            comments.append(text)
        else:
            space, broken = gap.end(kind, text)
            breaks = space.count("\n")
            can_break = breaks or space == broken
            joint = Line(broken, blank=breaks > 1) if can_break else space
            if comments:
                if not can_break:
                    raise FormatError(f"a comment needs a line of its own: {comments[0]}")
                joint = _HARD
            for comment in comments:
                yield joint, Kind.COMMENT, comment, line
            comments = []
            yield joint, kind, text, line
        line += text.count("\n")


def _read_inside(
    node: Node, pieces: Iterator[tuple[Joint, Kind | None, str, int]], paired: set[str]
) -> None:
    """Add the content of a node to it, up to its end. `paired` has the names of the tags that have an end tag."""
    node.branches.append(Branch(node.text))
    for joint, kind, text, line in pieces:
        node.branches[-1].joints.append(joint)
        name = _tag_name(text) if kind is Kind.TAG else ""
        if kind in (None, Kind.END) or name.startswith("end"):
            if kind is None and node.kind:
                raise FormatError(f"line {node.line}: {node.text} has no end")
            if not node.is_ended_by(kind, text):
                begun = f"{node.text} of line {node.line}" if node.kind else "nothing"
                raise FormatError(f"line {line}: {text} ends {begun}")
            node.end = text
            return
        if name in _MIDDLE_TAGS:
            if node.kind is not Kind.TAG:
                raise FormatError(f"line {line}: {text} stands in no tag of its own")
            node.branches.append(Branch(text))
        else:
            child = Node(kind, text, line)
            node.branches[-1].nodes.append(child)
            if name in paired or (kind is Kind.START and has_content(text)):
                _read_inside(child, pieces, paired)


def _tag_name(tag: str) -> str:
    return tag[2:-2].split(maxsplit=1)[0]


def format_template(source: str) -> str:
    """Return a template formatted. Raises FormatError if it cannot be formatted, or if its page would no longer be the same."""
    doc = _branch_doc(_parse(source), in_lines=True)
    text = Printer(WIDTH).lay_out(doc).strip("\n") + "\n"
    if canonical(text) != canonical(source):
        raise FormatError("the formatted template would be another page")
    return text


def canonical(source: str) -> str:
    """Return a template without removable whitespace, and with all translated texts in one notation, for comparison."""
    collapsed = _TRANSLATE.sub(lambda found: _translate_parts(found)[0], collapse(source))
    return MESSAGE_PARTS.sub(lambda found: _message_parts(found)[0], collapsed)


def _is_line(node: Node) -> bool:
    """Return whether a node is placed on lines of its own."""
    return (
        node.kind in (Kind.COMMENT, Kind.DOCTYPE)
        or (node.kind is Kind.TAG and node.name in _LINE_TAGS)
        or (node.kind is Kind.START and is_block(node.kind, node.text))
        or any(_is_in_lines(branch) for branch in node.branches)
    )


def _is_in_lines(branch: Branch) -> bool:
    """Return whether each node of a branch begins a new line, where a line may break."""
    has_parts = any(node.kind is Kind.TAG and node.name in _PART_TAGS for node in branch.nodes)
    return (has_parts and len(branch.nodes) > 1) or any(map(_is_line, branch.nodes))


def _joint_doc(joint: Joint, *, in_lines: bool) -> Joint:
    if isinstance(joint, Line) and in_lines and not joint.flat:
        return replace(joint, hard=True)
    return joint


def _branch_doc(branch: Branch, *, in_lines: bool) -> Fill:
    """Return the document (devtools.layout) of a branch's nodes, without the joint before the first node and after the last."""
    parts: list[Doc] = [_node_doc(node) for node in branch.nodes[:1]]
    for joint, node in zip(branch.joints[1:], branch.nodes[1:], strict=False):
        if isinstance(joint, Line):
            parts += [_joint_doc(joint, in_lines=in_lines), _node_doc(node)]
        else:
            parts[-1] = [parts[-1], joint, _node_doc(node)]
    return Fill(parts)


def _node_doc(node: Node) -> Doc:
    if node.kind is Kind.START:
        doc = _start_tag_doc(node.text)
    else:
        doc = _comment_doc(node.text) if node.kind is Kind.COMMENT else _hole_doc(node.text)
    if not node.branches:
        return doc
    if node.kind is Kind.START and node.name in RAW_ELEMENTS:
        return [doc, *(inner.text for inner in node.branches[0].nodes), node.end]
    parts: list[Doc] = []
    for branch in node.branches:
        parts.append(branch.tag if parts else doc)
        if not branch.nodes:
            joint = branch.joints[0]
            parts.append(joint.flat if isinstance(joint, Line) else joint)
            continue
        in_lines = _is_in_lines(branch)
        first, last = (_joint_doc(branch.joints[at], in_lines=in_lines) for at in (0, -1))
        if isinstance(last, Line):
            last = replace(last, blank=False)
        parts += [Indent([first, _branch_doc(branch, in_lines=in_lines)]), last]
    return Group([*parts, node.end])


def _start_tag_doc(tag: str) -> Doc:
    """Return the document of a start tag: in one line, or with one attribute per line."""
    tag = collapse_inside(Kind.START, tag)
    closing = "/>" if tag.endswith("/>") else ">"
    name = tag[: 1 + len(element_name(tag))]
    head, *attributes = _attributes(tag[len(name) : -len(closing)].rstrip())
    lines = [part for line, attribute in attributes for part in (line, attribute)]
    if not lines:
        return [name, head[1], closing]
    return Group([name, head[1], Indent(lines), Line(), closing])


def _attributes(text: str) -> list[tuple[Line, Doc]]:
    """Return the attributes of a start tag, each with the possible line break before it.

    The first item is the text directly behind the element's name, usually "".
    """
    found: list[tuple[Line, list[Doc]]] = [(Line(), [""])]
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
        is_spaced = text[: part.start()].endswith(" ")
        if BRINGS_SPACE.match(text, part.start()) and not is_spaced and not depth:
            if not quote:
                found.append((Line(), [""]))
            elif found[-1][1][-1] != "":
                found[-1][1].extend([Line(), ""])
        if piece.startswith("{%"):
            name = _tag_name(piece)
            depth += (name in ("if", "for", "with")) - name.startswith("end")
        _glue(found[-1][1], _hole_doc(piece) if part["hole"] else piece)
    return [
        (line, pieces[0] if len(pieces) == 1 else Group([Indent([Fill(pieces)])]))
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
    """Return the document of a comment: unchanged, or as lines between `{% comment %}` and `{% endcomment %}`."""
    if text.startswith("{#"):
        lines = [text[2:-2].strip()]
    else:
        inner = re.sub(r"^\{%.*?%\}|\{%\s*endcomment\s*%\}$", "", text, flags=re.DOTALL)
        lines = [line.strip() for line in inner.strip().split("\n")]
    docs = [part for line in lines for part in (_HARD, _fill(line))]
    long = Group(["{% comment %}", Indent(docs), _HARD, "{% endcomment %}"])
    return Choice(f"{{# {lines[0]} #}}", long) if len(lines) == 1 else long


def _translate_parts(found: re.Match[str]) -> tuple[str, Doc]:
    """Return a `{% translate %}` in the two forms of `_message_parts`: in one line, and as a message in lines of its own."""
    text, name = found["text"], found["name"]
    if text != text.strip() or "{" in text:
        return found[0], found[0]
    tag = f"{{% blocktranslate{f' asvar {name}' if name else ''} %}}"
    match = MESSAGE_PARTS.fullmatch(f"{tag}{text}{{% endblocktranslate %}}")
    assert match
    return _message_parts(match)


def _message_parts(found: re.Match[str]) -> tuple[str, Doc]:
    """Return a message in one line, and in lines of its own. If its whitespace matters, both forms are the unchanged message."""
    tag, one, _, many, _ = found.groups()
    parts = [one] if many is None else [one, many]
    if "trimmed" in tag[2:-2].split():
        parts = [re.sub(r"\s*\n\s*", " ", part.strip()) for part in parts]
    elif any("\n" in part or part != part.strip() for part in parts):
        return found[0], found[0]
    options = re.sub(r"\s+trimmed\b", "", tag[2:-2]).strip().removeprefix("blocktranslate")
    flat = "{% plural %}".join(parts)
    long: list[Doc] = [f"{{% blocktranslate trimmed{options} %}}"]
    for part in parts:
        if len(long) > 1:
            long += [_HARD, "{% plural %}"]
        long.append(Indent([_HARD, _fill(part)]))
    flat = f"{{% blocktranslate{options} %}}{flat}{{% endblocktranslate %}}"
    return flat, [*long, _HARD, "{% endblocktranslate %}"]


def _fill(text: str) -> Fill:
    """Return the words of a text with possible line breaks between them."""
    docs = [part for word in _WORD.findall(text) for part in (Line(" "), word)]
    return Fill(docs[1:])


def main(arguments: Sequence[str] | None = None) -> int:
    """Format the templates, or with `--check` name unformatted templates. Return 1 if a template has a fault, else 0."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing")
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "templates"])
    options = parser.parse_args(arguments)
    complaints = [
        f"{file}: {complaint}"
        for path in options.paths
        for file in (sorted(path.rglob("*.html")) if path.is_dir() else [path])
        for complaint in _format_file(file, check=options.check)
    ]
    print(*complaints, sep="\n", end="\n" if complaints else "")
    return int(bool(complaints))


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
