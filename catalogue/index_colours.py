"""The search index follows the settings of colours: the family of a colour, and which options are colours (decision 082).

A document has the families of its colours, and the state of these settings when it was written. After a change of the settings,
the products with a colour whose family changed are written again, some in each update.
"""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import tantivy

from catalogue.filter_settings import (
    COLOUR,
    find_colour_state,
    list_filter_names,
    make_option_token,
)
from catalogue.index_files import note
from catalogue.index_queries import one_of

# How many products an update writes again because of colours.
MAX_RECOLOURED = 500
_UNFINISHED = "recolouring"


@dataclass(frozen=True)
class ColourTerms:
    """The terms that an index has for the values of its colours, such as `colour=Oat` and `colour=beige`, in a state of the settings."""

    state: str
    names: tuple[str, ...]
    tokens: dict[str, str]


def note_colours(path: Path, state: str) -> None:
    """Note the state of the settings when the writing of an index's colours began. Raises CassandraUnavailable."""
    searcher = tantivy.Index.open(str(path)).searcher()
    names = [each.key for each in list_filter_names() if each.kind == COLOUR]
    tokens = {term: _make_token(term) for term in _list_terms(searcher, names)}
    # If the settings changed meanwhile, it is unknown which products have which: all of them are written again.
    known = tokens if state == find_colour_state() else {}
    _note(path, ColourTerms(state, tuple(names), known))


def note_recoloured(path: Path, state: str, *, is_complete: bool) -> None:
    """Note whether an update has written all products of changed colours. Raises CassandraUnavailable."""
    if not is_complete:
        note(path / _UNFINISHED, state)
        # Some products have the new family, others the former one. If the settings change back, all are written again.
        before = _read(path)
        known = {term: token for term, token in before.tokens.items() if token == _make_token(term)}
        _note(path, replace(before, tokens=known))
    elif has_new_colours(path):
        note_colours(path, state)
        (path / _UNFINISHED).unlink(missing_ok=True)


def is_recolouring(path: Path) -> bool:
    """Return whether the last update has left products of changed colours."""
    return (path / _UNFINISHED).exists()


def has_new_colours(path: Path) -> bool:
    """Return whether the settings of colours have changed since the index was written. Raises CassandraUnavailable."""
    return _read(path).state != find_colour_state()


def list_recoloured(path: Path) -> list[UUID]:
    """Return products whose documents have a former family of a colour, at most MAX_RECOLOURED. Raises CassandraUnavailable."""
    index, before = tantivy.Index.open(str(path)), _read(path)
    searcher, state = index.searcher(), find_colour_state()
    names = {*before.names, *(each.key for each in list_filter_names() if each.kind == COLOUR)}
    changed = [
        term
        for term in _list_terms(searcher, sorted(names))
        if before.tokens.get(term) != _make_token(term)
    ]
    if not changed:
        return []
    wanted = tantivy.Query.boolean_query(
        [
            (tantivy.Occur.Must, one_of(index.schema, "value", changed)),
            (tantivy.Occur.MustNot, tantivy.Query.term_query(index.schema, "colour_state", state)),
        ]
    )
    hits = searcher.search(wanted, limit=MAX_RECOLOURED, count=False).hits
    return [UUID(hex=searcher.doc(address)["id"][0]) for _, address in hits]


def _list_terms(searcher: Any, names: list[str]) -> list[str]:
    return [term for name in names for term, _ in searcher.terms_with_prefix("value", f"{name}=")]


def _make_token(term: str) -> str:
    return make_option_token(*term.split("=", 1))


def _note(path: Path, terms: ColourTerms) -> None:
    note(path / "colours", json.dumps(asdict(terms), ensure_ascii=False))


def _read(path: Path) -> ColourTerms:
    try:
        stored = json.loads((path / "colours").read_text())
    except FileNotFoundError:
        return ColourTerms("", (), {})
    return ColourTerms(stored["state"], tuple(stored["names"]), stored["tokens"])
