"""The colours of all pages: those of the stylesheet, and those that follow from a brand's accent and ground.

A colour is six hexadecimal digits. `accent` (links and buttons) and `ground` (the page) are the colours in light windows, or "" for
those of the stylesheet. The dark ones keep their hues.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.tone import Tone

Colours = Mapping[str, str]
LIGHT, DARK = "light", "dark"
TEXT_CONTRAST, EDGE_CONTRAST = 4.5, 3.0
_ACCENTS = ("accent", "accent-deep", "accent-soft", "fill", "fill-deep", "on-fill")
_TONES, _PAGES = ("good", "warn", "bad", "calm"), ("paper", "surface", "well")
# The pairs that must stand out from one another: what is in front, and behind it.
TEXT_PAIRS = (
    *((text, page) for page in _PAGES for text in ("ink", "ink-soft", "accent", "bad")),
    *((text, "accent-soft") for text in ("accent", "ink")),
    *((text, f"{tone}-soft") for tone in _TONES for text in (tone, "ink")),
    *((text, "paper") for text in ("good", "warn", "accent-deep")),
    *(("on-fill", fill) for fill in ("fill", "fill-deep")),
)
EDGE_PAIRS = tuple(
    (edge, page)
    for page in ("paper", "surface")
    for edge in ("line-strong", "fill", "focus", "star")
)
_IN_FRONT = {
    **dict.fromkeys(("ink", "ink-soft"), gettext_lazy("the text")),
    "on-fill": gettext_lazy("the words on buttons"),
    **dict.fromkeys(("accent", "accent-deep"), gettext_lazy("links")),
    "fill": gettext_lazy("buttons"),
    **dict.fromkeys(("line-strong", "focus"), gettext_lazy("borders")),
}
_RULE = re.compile(r"--([a-z-]+): #([0-9a-f]{6});")
# Lightnesses are tried in these steps.
_STEP = 0.01


@dataclass(frozen=True)
class WeakPair:
    """Two colours of a scheme that do not stand out from one another."""

    scheme: str
    front: str
    back: str
    contrast: float
    needed: float

    @property
    def has_accent(self) -> bool:
        """Whether one of them follows from the accent."""
        return not {self.front, self.back}.isdisjoint(_ACCENTS)

    def __str__(self) -> str:
        """Say which pair it is."""
        words = {
            "front": _IN_FRONT.get(self.front, _("words about a state")),
            "back": _("the buttons") if self.front == "on-fill" else _("the page"),
            "contrast": f"{self.contrast:.1f}",
            "needed": f"{self.needed:g}",
        }
        if self.scheme == DARK:
            text = _(
                "In dark windows the contrast between %(front)s and %(back)s is %(contrast)s to 1. It has to be %(needed)s to 1."
            )
        else:
            text = _(
                "The contrast between %(front)s and %(back)s is %(contrast)s to 1. It has to be %(needed)s to 1."
            )
        return text % words


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2.2 defines it, from 1 to 21."""
    high, low = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@lru_cache(maxsize=4096)
def _luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (0, 2, 4)]
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@cache
def read_stylesheet() -> dict[str, Colours]:
    """Return the colours of stoa.css by scheme."""
    text = Path(settings.BASE_DIR, "static", "css", "stoa.css").read_text(encoding="utf-8")
    light, dark = text.partition("@layer base {")[0].split("prefers-color-scheme: dark")
    return {LIGHT: dict(_RULE.findall(light)), DARK: dict(_RULE.findall(dark))}


@lru_cache(maxsize=256)
def make_palette(accent: str, ground: str) -> dict[str, Colours]:
    """Return all colours by scheme."""
    light, dark = (dict(colours) for colours in read_stylesheet().values())
    if ground:
        light |= _light_ground(ground)
        dark |= _dark_ground(ground)
    if accent:
        light |= _light_accent(accent, light["paper"])
        dark |= _dark_accent(accent, dark)
    return {LIGHT: light, DARK: dark}


def find_weak_pairs(accent: str, ground: str) -> list[WeakPair]:
    """Return the pairs of colours that do not stand out from one another, the weakest first."""
    found = [
        WeakPair(scheme, front, back, measured, needed)
        for scheme, colours in make_palette(accent, ground).items()
        for pairs, needed in ((TEXT_PAIRS, TEXT_CONTRAST), (EDGE_PAIRS, EDGE_CONTRAST))
        for front, back in pairs
        if (measured := contrast(colours[front], colours[back])) < needed
    ]
    return sorted(found, key=lambda pair: pair.contrast / pair.needed)


def find_nearest(colour: str, passes: Callable[[str], bool]) -> str | None:
    """Return the colour of the same hue and the nearest lightness that passes; None if there is none."""
    tone = Tone.from_hex(colour)
    for distance in range(round(1 / _STEP) + 1):
        for lightness in (tone.lightness - distance * _STEP, tone.lightness + distance * _STEP):
            tried = colour if not distance else _shade(tone, lightness, 0.4)
            if 0 <= lightness <= 1 and passes(tried):
                return tried
    return None


def make_rules(accent: str, ground: str) -> str:
    """Return the rules that replace colours of stoa.css."""
    light, dark = (
        _rules(colours, read_stylesheet()[scheme])
        for scheme, colours in make_palette(accent, ground).items()
    )
    return f"@layer tokens{{:root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}}}"


def make_preview_rules(accent: str, ground: str) -> str:
    """Return the rules for the two parts of a page that show the colours in a light and in a dark window."""
    rules = "".join(
        f".preview--{scheme}{{color-scheme:{scheme};{_rules(colours, {})}}}"
        for scheme, colours in make_palette(accent, ground).items()
    )
    return f"@layer pages{{{rules}}}"


def _rules(colours: Colours, former: Colours) -> str:
    return "".join(
        f"--{name}:#{colour};" for name, colour in colours.items() if former.get(name) != colour
    )


def _shade(tone: Tone, lightness: float, chroma: float) -> str:
    """Return a colour of a tone's hue with this lightness, and at most this chroma."""
    return str(Tone.from_polar(lightness, min(tone.chroma, chroma), tone.hue))[1:]


def _light_ground(ground: str) -> Colours:
    tone = Tone.from_hex(ground)
    ink = Tone.from_hex(_shade(tone, 0.25, 0.012))
    return {
        "paper": ground,
        "surface": str(tone.mix(Tone(1, 0, 0), 0.7))[1:],
        "well": str(tone.mix(ink, 0.06))[1:],
        "ink": str(ink)[1:],
        "ink-soft": _shade(tone, 0.44, 0.02),
        "line": str(tone.mix(ink, 0.13))[1:],
        "line-strong": str(tone.mix(ink, 0.54))[1:],
    }


def _dark_ground(ground: str) -> Colours:
    tone = Tone.from_hex(ground)
    return {
        "paper": _shade(tone, 0.215, 0.016),
        "surface": _shade(tone, 0.252, 0.018),
        "well": _shade(tone, 0.295, 0.02),
        "ink": _shade(tone, 0.94, 0.015),
        "ink-soft": _shade(tone, 0.77, 0.02),
        "line": _shade(tone, 0.35, 0.02),
        "line-strong": _shade(tone, 0.64, 0.024),
    }


def _light_accent(accent: str, paper: str) -> Colours:
    tone = Tone.from_hex(accent)
    deep = str(tone.down(0.07))[1:]
    return {
        **dict.fromkeys(("accent", "fill"), accent),
        **dict.fromkeys(("accent-deep", "fill-deep"), deep),
        "on-fill": "ffffff",
        "accent-soft": str(Tone.from_hex(paper).mix(tone, 0.08))[1:],
    }


def _dark_accent(accent: str, ground: Colours) -> Colours:
    """Return the accent's colours in dark windows: light enough to read, and dark text on buttons."""
    tone, paper = Tone.from_hex(accent), Tone.from_hex(ground["paper"])

    def soften(colour: str) -> str:
        return str(paper.mix(Tone.from_hex(colour), 0.16))[1:]

    def is_legible(colour: str) -> bool:
        pages = [*(ground[page] for page in _PAGES), soften(colour)]
        return all(contrast(colour, page) >= TEXT_CONTRAST for page in pages)

    start = _shade(tone, max(tone.lightness, 0.76), 0.13)
    light = find_nearest(start, is_legible) or "ffffff"
    lighter = str(Tone.from_hex(light).up(0.06))[1:]
    return {
        **dict.fromkeys(("accent", "fill"), light),
        **dict.fromkeys(("accent-deep", "fill-deep"), lighter),
        "on-fill": ground["paper"],
        "accent-soft": soften(light),
    }
