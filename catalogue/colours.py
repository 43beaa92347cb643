"""Colours by name, and the twelve families in which shoppers look for them.

A family is computed from a hex in Oklab's polar form (`catalogue.tone`): lightness from 0 to 1, chroma from 0 (grey) to about 0.3, and
hue in degrees: red is near 25, yellow near 110, green near 145, blue near 265. The rule, first match first:

- Neutral: the chroma is below `_neutral_chroma`. By lightness it is black, grey or white. An eye sees a tint in beige sooner than in
  blue grey, and in light colours sooner than in dark ones.
- Earth: orange and yellow hues with little chroma. Light ones are beige, dark ones are brown.
- Otherwise the hue decides. Light red is pink, and dark yellow is green (olive).
"""

import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from pathlib import Path

from django.utils.translation import gettext_lazy

from catalogue.tone import Tone
from catalogue.words import fold_text, split_words

OTHER = "other"
# In the order in which pages list them.
FAMILY_LABELS = {
    "black": gettext_lazy("Black"),
    "white": gettext_lazy("White"),
    "grey": gettext_lazy("Grey"),
    "beige": gettext_lazy("Beige"),
    "brown": gettext_lazy("Brown"),
    "red": gettext_lazy("Red"),
    "orange": gettext_lazy("Orange"),
    "yellow": gettext_lazy("Yellow"),
    "green": gettext_lazy("Green"),
    "blue": gettext_lazy("Blue"),
    "purple": gettext_lazy("Purple"),
    "pink": gettext_lazy("Pink"),
    OTHER: gettext_lazy("Other"),
}
# How pages show a family.
FAMILY_HEXES = {
    "black": "1d1d1d",
    "white": "fdfdfb",
    "grey": "8f9194",
    "beige": "dcc9a8",
    "brown": "7a5338",
    "red": "b5342f",
    "orange": "dd7a33",
    "yellow": "e6c248",
    "green": "5c8450",
    "blue": "3f6da8",
    "purple": "7c5a9e",
    "pink": "dd94ac",
}
# "Chalk and ink", "Navy/white": the colour that is named first is the main one.
_JOINTS = re.compile(r"\b(?:and|with)\b|[&/+,;|]")
# No name has more words.
_MAX_WORDS = 3


@cache
def load_colour_names() -> Mapping[str, str]:
    """Return the hexes of the colours that every shop knows, keyed by `colour_key`."""
    file = Path(__file__).parent / "colour_names.toml"
    return tomllib.loads(file.read_text(encoding="utf-8"))


def colour_key(value: str) -> str:
    """Return a colour's name in the form in which colours are compared: "Navy-Blue" gives "navy blue", "★" gives ""."""
    return " ".join(split_words(value))


def iterate_colour_keys(value: str) -> Iterator[str]:
    """Yield the keys that may name a value's colour, best first: the whole, then the longest and the last run of its words.

    "Washed dark blue" is dark blue. If the value names several colours, the first one counts.
    """
    yield colour_key(value)
    for part in _JOINTS.split(fold_text(value)):
        words = split_words(part)
        for length in range(min(len(words), _MAX_WORDS), 0, -1):
            for start in range(len(words) - length, -1, -1):
                yield " ".join(words[start : start + length])


def is_hex(text: str) -> bool:
    """Return whether a text is six hexadecimal digits in lower case."""
    return bool(re.fullmatch("[0-9a-f]{6}", text))


@lru_cache(4096)
def family_of_hex(hex6: str) -> str:
    """Return the family of a colour with six hexadecimal digits. Raises ValueError for any other text."""
    tone = Tone.from_hex(hex6)
    hue = math.degrees(tone.hue) % 360
    light, chroma = tone.lightness, tone.chroma
    if light < 0.16 or chroma < _neutral_chroma(light, hue):
        return "black" if light < 0.3 else "white" if light >= 0.93 else "grey"
    if _is_beige(light, chroma, hue):
        return "beige"
    return "brown" if _is_brown(light, chroma, hue) else _family_of_hue(light, chroma, hue)


def _neutral_chroma(light: float, hue: float) -> float:
    if 40 <= hue < 112:
        return 0.022
    return 0.035 if light < 0.85 else 0.02


def _is_beige(light: float, chroma: float, hue: float) -> bool:
    if chroma < 0.045:
        return 45 <= hue < 112 and light >= 0.6
    return 60 <= hue < 95 and light >= 0.7 and chroma < 0.085


def _is_brown(light: float, chroma: float, hue: float) -> bool:
    if hue < 30:
        return hue >= 10 and light < 0.6 and chroma < 0.07
    if hue < 75:
        return chroma < 0.12 and light < (0.605 if hue < 45 or chroma >= 0.1 else 0.75)
    return hue < 95 and light < 0.66


def _family_of_hue(light: float, chroma: float, hue: float) -> str:
    if hue >= 342 or hue < 8:
        # Light, or as glowing as cerise: pink. Dark: between wine and plum.
        return "pink" if light >= 0.52 else "red" if hue < 8 or hue >= 352 else "purple"
    pale = light >= 0.7 and chroma < 0.13
    bands = (
        (35, "pink" if pale or light >= (0.64 if hue < 24 else 0.72) else "red"),
        (45, "pink" if pale and chroma < 0.1 else "orange"),
        (75, "orange"),
        (114 if light >= 0.8 else 106 if light >= 0.66 else 75, "yellow"),
        (180 if light >= 0.7 else 200, "green"),
        (279, "blue"),
        (325 if chroma >= 0.25 else 342, "purple"),
        (342, "pink"),
    )
    return next(family for end, family in bands if hue < end)
