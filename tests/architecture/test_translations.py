"""Texts: each that somebody reads is marked for translation, in the templates and where forms and views say something."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from html import unescape
from pathlib import Path

from django.template.base import Lexer, Token, TokenType

from tests.architecture.apps import FILES, ROOT, relative_path

SCRIPTS = sorted((ROOT / "static" / "js").glob("*.js"))
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*") if path.is_file())
# Not the programs of whoever runs the shop: they speak one language.
SPEAKING = [
    path
    for path in FILES
    if "management" not in path.parts and path.relative_to(ROOT).parts[0] != "devtools"
]

# Keys of the keyboard, as scripts name them.
SCRIPT_NAMES = {"ArrowDown", "Backspace", "Enter", "Escape"}

# What stands in pages and is the same in each language.
NAMES = {
    "UTC",  # a time's, everywhere
    # Other shops.
    *("Magento", "PrestaShop", "Shopify", "WooCommerce"),
}
# Blocks that hold no text: the classes of the page's body.
CLASS_BLOCKS = {"page"}
# Whose content nobody reads as text: programs, data, styles, and what is typed in a terminal.
UNREAD_ELEMENTS = ("script", "style", "code")
# Tags whose literals are no texts: they compare, say how a date is written, or are marked.
SILENT_TAGS = {"if", "elif", "now", "translate"}

_WORD = re.compile(r"[^\W\d_]{3,}")
# Addresses, and names of files and hosts.
_ADDRESS = re.compile(r"\w+://\S+|[\w.+-]+@[\w.-]+|\b[\w-]+(?:\.[\w-]+)+\b")
_LITERAL = r"\"[^\"]*\"|'[^']*'"
# With what stands before it: ":" for an argument of a filter, "_(" for what is marked.
_TAG_LITERAL = re.compile(rf"(:|_\(|)({_LITERAL})")
_DEFAULT = re.compile(rf"\|(?:default|default_if_none|yesno):({_LITERAL})")

# Each tag of Django's becomes one of these characters: a place in HTML that is filled in later.
_FIRST_HOLE = 0xF0000
_HOLE = "\U000f0000-\U000ffffd"
_TAG = re.compile(rf"</?[a-zA-Z!{_HOLE}](?:[^<>\"']|{_LITERAL})*>|<!--.*?-->", re.DOTALL)
_ATTRIBUTE = re.compile(rf"([\w:-]+)\s*=\s*({_LITERAL})")
_UNREAD = re.compile(
    rf"(<({'|'.join(UNREAD_ELEMENTS)})\b(?:[^<>\"']|{_LITERAL})*>)(.*?)(?=</\2>)", re.DOTALL
)
_SPOKEN = {"alt", "aria-description", "aria-label", "aria-roledescription", "aria-valuetext"}
_SPOKEN |= {"data-label", "label", "placeholder", "title"}
_SPOKEN_META = {"description", "og:description", "og:title", "twitter:description"}

_GETTEXT = {"_", "gettext", "gettext_lazy", "ngettext", "ngettext_lazy", "pgettext"}
_GETTEXT |= {"pgettext_lazy", "npgettext", "npgettext_lazy"}
_MESSAGES = {"debug", "info", "success", "warning", "error", "add_message"}


@dataclass(frozen=True)
class Finding:
    """A text that is not marked, and where it stands."""

    path: Path
    line: int
    text: str

    def __str__(self) -> str:
        return f"{relative_path(self.path)}:{self.line}: {' '.join(self.text.split())[:100]}"


def test_every_text_is_marked_for_translation() -> None:
    found = [each for path in TEMPLATES for each in list_template_texts(path)]
    found += [each for path in SPEAKING for each in list_python_texts(path)]
    found += [each for path in SCRIPTS for each in list_script_texts(path)]
    assert not found, f"{len(found)} texts are not marked:\n" + "\n".join(map(str, found))
    assert len(TEMPLATES) >= 190
    assert len(SCRIPTS) >= 2
    assert len(SPEAKING) >= 200


# ---- Templates


@dataclass(frozen=True)
class Markup:
    """A template as HTML with holes: a character for each of Django's tags, which are kept beside it."""

    path: Path
    text: str
    tokens: dict[str, Token]

    def finding(self, place: int, text: str) -> Finding:
        """Return what was found at a place of the text."""
        shown = re.sub(f"[{_HOLE}]", "…", text)
        return Finding(self.path, self.text.count("\n", 0, place) + 1, shown)

    def check(self, place: int, text: str) -> Iterator[Finding]:
        """Find what a reader would read here: words of the template, and of what stands in for a missing value."""
        if has_words(text):
            yield self.finding(place + _first_word(text), text.strip())
        for hole in re.findall(f"[{_HOLE}]", text):
            token = self.tokens[hole]
            if token.token_type is TokenType.VAR:
                for literal in _DEFAULT.findall(token.contents):
                    if has_words(literal):
                        yield Finding(self.path, token.lineno or 0, literal)


def list_template_texts(path: Path) -> list[Finding]:
    """Return a template's texts that are not marked."""
    markup = _markup(path)
    found = [*_tag_literals(markup)]
    if path.suffix not in (".html", ".atom"):
        return [*found, *markup.check(0, markup.text)]
    read = _UNREAD.sub(lambda match: match[1] + re.sub(r"[^\n]", " ", match[3]), markup.text)
    at = 0
    for tag in _TAG.finditer(read):
        found += markup.check(at, read[at : tag.start()])
        found += _attributes(markup, tag)
        at = tag.end()
    return [*found, *markup.check(at, read[at:])]


def has_words(text: str) -> bool:
    """Tell whether a text has a word to translate: one of three letters that is no name and no address."""
    return any(word not in NAMES for word in _WORD.findall(_ADDRESS.sub(" ", unescape(text))))


def _first_word(text: str) -> int:
    found = _WORD.search(text)
    return found.start() if found else 0


def _markup(path: Path) -> Markup:
    text, tokens = "", {}
    for number, token in enumerate(_without_marked(Lexer(path.read_text()).tokenize())):
        text += "\n" * ((token.lineno or 0) - text.count("\n") - 1)  # of what was left out
        if token.token_type is TokenType.TEXT:
            text += token.contents
        else:
            hole = chr(_FIRST_HOLE + number)
            tokens[hole] = token
            text += hole
    return Markup(path, text, tokens)


def _without_marked(tokens: Iterable[Token]) -> Iterator[Token]:
    """Leave out what is marked, is a comment, or is a class."""
    until = ""
    for token in tokens:
        words = token.contents.split() if token.token_type is TokenType.BLOCK else []
        if until:
            until = "" if words and words[0] == until else until
        elif words and words[0] in ("comment", "blocktranslate"):
            until = f"end{words[0]}"
        elif words[:1] == ["block"] and words[1] in CLASS_BLOCKS:
            until = "endblock"
        else:
            yield token


def _tag_literals(markup: Markup) -> Iterator[Finding]:
    """Find texts that are given to a tag, as to an include."""
    for token in markup.tokens.values():
        if token.token_type is TokenType.BLOCK and token.split_contents()[0] not in SILENT_TAGS:
            literals = [text for before, text in _TAG_LITERAL.findall(token.contents) if not before]
            for literal in literals + _DEFAULT.findall(token.contents):
                if _is_sentence(literal):
                    yield Finding(markup.path, token.lineno or 0, literal)


def _is_sentence(text: str) -> bool:
    """Tell a text from a key: it has a capital letter, or a space."""
    return has_words(text) and bool(re.search(r"[^\W\d_a-z]|\S\s+\S", text.strip("\"'")))


def _attributes(markup: Markup, tag: re.Match[str]) -> Iterator[Finding]:
    found = {each[1].lower(): each for each in _ATTRIBUTE.finditer(tag[0])}
    values = {name: each[2][1:-1] for name, each in found.items()}
    for name, value in values.items():
        if _is_spoken(tag[0], name, values) or (name.startswith("data-") and _is_sentence(value)):
            yield from markup.check(tag.start() + found[name].start(2), value)


def _is_spoken(tag: str, name: str, values: dict[str, str]) -> bool:
    if name == "value":
        return values.get("type") in {"submit", "button", "reset"} and tag.startswith("<input")
    if name == "content":
        return bool({values.get("name"), values.get("property")} & _SPOKEN_META)
    return name in _SPOKEN


# ---- Scripts


def list_script_texts(path: Path) -> list[Finding]:
    """Return a script's strings that begin like a text. What it says stands in templates/_script_texts.html."""
    return [
        Finding(path, number, text)
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for text in re.findall(r"[\"'`]( ?[A-Z][a-z][^\"'`]*|  ?[a-z][^\"'`]*)[\"'`]", line)
        if text not in SCRIPT_NAMES
    ]


# ---- Python


def list_python_texts(path: Path) -> list[Finding]:
    """Return the texts of a file's forms and messages that are not marked."""
    tree = ast.parse(path.read_text())
    named = _constants(tree)
    found = {}
    for node in ast.walk(tree):
        for value in _spoken_values(node):
            for text in _unmarked(value, named):
                found[text.lineno, text.col_offset] = ast.unparse(text)
        if isinstance(node, ast.Call) and _name(node.func) in _GETTEXT:
            for argument in node.args:
                if isinstance(argument, ast.JoinedStr | ast.BinOp):
                    found[argument.lineno, argument.col_offset] = ast.unparse(argument)
    return [Finding(path, line, text) for (line, _), text in sorted(found.items())]


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return what a module's own names stand for."""
    return {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }


def _spoken_values(node: ast.AST) -> Iterator[ast.expr]:
    """Return what somebody is shown of a call, an assignment or a widget's attributes."""
    if isinstance(node, ast.Call):
        yield from _spoken_arguments(node)
    elif isinstance(node, ast.Assign) and _is_field_text(node.targets[0]):
        yield node.value
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value in ("placeholder", "aria-label"):
                yield value


def _spoken_arguments(call: ast.Call) -> Iterator[ast.expr]:
    name = _name(call.func)
    if name == "ValidationError":
        yield from call.args[:1]
    elif name == "add_error":
        yield from call.args[1:2]
    elif name in _MESSAGES and isinstance(call.func, ast.Attribute):
        if _name(call.func.value) == "messages":
            yield from call.args[1:]
    elif name in _text_arguments():
        positions, keywords = _text_arguments()[name]
        yield from (each for at, each in enumerate(call.args) if at in positions)
        yield from (each.value for each in call.keywords if each.arg in keywords)
    elif name.lower().endswith("field") or name in _field_makers():
        yield from call.args
        spoken = ("label", "help_text", "error_messages", "choices", "empty_label")
        yield from (each.value for each in call.keywords if each.arg in spoken)


def _is_field_text(target: ast.expr) -> bool:
    """Tell whether an assignment's target is a field's `label`, or one of its error messages."""
    if isinstance(target, ast.Subscript):
        return _name(target.value) == "error_messages"
    if isinstance(target, ast.Attribute):
        return target.attr in ("label", "help_text", "error_messages")
    return _name(target) == "default_error_messages"


@cache
def _field_makers() -> frozenset[str]:
    """Return the functions that return a form's field."""
    return frozenset(
        node.name
        for path in SPEAKING
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef) and node.returns
        if re.fullmatch(r"(forms\.)?\w+Field", ast.unparse(node.returns))
    )


@cache
def _text_arguments() -> dict[str, tuple[set[int], set[str]]]:
    """Return which arguments of our dataclasses are texts: those that are said to be `StrOrPromise`."""
    found = {}
    for path in SPEAKING:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
                texts = [
                    (at, _name(each.target))
                    for at, each in enumerate(fields)
                    if "StrOrPromise" in ast.unparse(each.annotation)
                ]
                if texts:
                    found[node.name] = ({at for at, _ in texts}, {name for _, name in texts})
    return found


def _unmarked(value: ast.expr, named: dict[str, ast.expr]) -> Iterator[ast.expr]:
    """Return the literals that a value is made of; a call, which gettext is, makes its own."""
    match value:
        case ast.Constant(value=str(text)):
            yield from [value] if _is_sentence(text) else []
        case ast.JoinedStr(values=parts):
            fixed = "".join(str(part.value) for part in parts if isinstance(part, ast.Constant))
            yield from [value] if _is_sentence(fixed) else []
        case ast.Name(id=name) if name in named:
            rest = {key: each for key, each in named.items() if key != name}
            yield from _unmarked(named[name], rest)
        case ast.BinOp(left=left, right=right):
            yield from _unmarked(left, named)
            yield from _unmarked(right, named) if isinstance(value.op, ast.Add) else []
        case ast.IfExp(body=body, orelse=other):
            yield from (*_unmarked(body, named), *_unmarked(other, named))
        case ast.Dict(values=values) | ast.List(elts=values) | ast.BoolOp(values=values):
            yield from (text for each in values for text in _unmarked(each, named))
        case ast.Tuple(elts=values):
            # Of a choice, the first is what is kept.
            shown = values[1:] if len(values) == 2 else values
            yield from (text for each in shown for text in _unmarked(each, named))
        case ast.Call(func=ast.Attribute(value=ast.Constant() as text, attr="format")):
            yield from _unmarked(text, named)


def _name(node: ast.expr) -> str:
    """Return the last part of a dotted name."""
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
