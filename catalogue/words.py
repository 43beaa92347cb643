"""Words in the form in which the shop compares them: without case, accents, plural and hyphens."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise

PREFIX_LETTERS = range(2, 9)
_WORD = re.compile(r"[^\W_]+")
_APOSTROPHE = re.compile("['’ʼ]")
# Name particles of up to this many letters are also joined to the next word: O Brien, Mc Donald, de Vries.
_PARTICLE_LETTERS = 2


def fold_text(text: str) -> str:
    """Return the text without case and accents: "Café Größe" becomes "cafe grosse"."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in apart if not unicodedata.combining(letter)).casefold()


def split_words(text: str) -> list[str]:
    """Return the folded words of a text, in their order: "T-Shirt, blue" gives t, shirt, blue."""
    return _WORD.findall(_APOSTROPHE.sub("", fold_text(text)))


def name_words(name: str) -> list[str]:
    """Return the folded words by which a person's name is found, each word once.

    "O'Brien" gives obrien, o and brien; "O Brien" gives o, brien and obrien. So each spelling finds the other spelling.
    """
    parts = _WORD.findall(_APOSTROPHE.sub(" ", fold_text(name)))
    joined = (
        first + second for first, second in pairwise(parts) if len(first) <= _PARTICLE_LETTERS
    )
    return list(dict.fromkeys((*split_words(name), *parts, *joined)))


def name_has_words(name: str, typed: Iterable[str]) -> bool:
    """Return whether each of these typed words is the beginning of a word in a person's name."""
    words = name_words(name)
    return all(any(word.startswith(each) for word in words) for each in typed)


def word_forms(word: str) -> set[str]:
    """Return a folded word and its possible singulars."""
    found = {word}
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return found
    found.add(word[:-1])
    if word.endswith("ies"):
        found.add(word[:-3] + "y")
    elif word.endswith("ves"):
        found |= {word[:-3] + "f", word[:-3] + "fe"}
    elif word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        found.add(word[:-2])
    return found


def search_terms(text: str) -> list[str]:
    """Return all forms of a text's words, and of neighbours joined: "t shirt", "tshirt" and "t-shirt" find "T-shirts"."""
    found = split_words(text)
    joined = [first + second for first, second in pairwise(found)]
    # Only a word with an "s" at its end has several forms.
    return [
        form
        for word in (*found, *joined)
        for form in (sorted(word_forms(word)) if word.endswith("s") else (word,))
    ]


def name_prefixes(name: str) -> dict[str, int]:
    """Return each prefix (2 to 8 letters) of a name's words, with the position of the first word that has the prefix."""
    found: dict[str, int] = {}
    for position, word in enumerate(split_words(name)):
        for length in PREFIX_LETTERS:
            if length <= len(word):
                found.setdefault(word[:length], position)
    return found
