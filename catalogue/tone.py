"""Colours that can be lightened, darkened and mixed, so that equal differences look equally large.

The arithmetic is in Oklab (Björn Ottosson, 2020, https://bottosson.github.io/posts/oklab/). Unlike in RGB, a difference of 0.1 in
lightness looks equally large for mustard and for ink.
"""

import math
from dataclasses import dataclass
from typing import Self


def _to_linear(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4


def _to_srgb(channel: float) -> float:
    channel = min(max(channel, 0.0), 1.0)
    return channel * 12.92 if channel <= 0.0031308 else 1.055 * channel ** (1 / 2.4) - 0.055


@dataclass(frozen=True, slots=True)
class Tone:
    """A colour in Oklab: lightness 0 to 1, and two axes, green to red and blue to yellow."""

    lightness: float
    green_red: float
    blue_yellow: float

    @classmethod
    def from_hex(cls, hex6: str) -> Self:
        """Return the tone of a colour with six hexadecimal digits. Raises ValueError for any other text."""
        red, green, blue = (_to_linear(int(hex6[i : i + 2], 16) / 255) for i in (0, 2, 4))
        long = math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue)
        medium = math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue)
        short = math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue)
        return cls(
            0.2104542553 * long + 0.7936177850 * medium - 0.0040720468 * short,
            1.9779984951 * long - 2.4285922050 * medium + 0.4505937099 * short,
            0.0259040371 * long + 0.7827717662 * medium - 0.8086757660 * short,
        )

    @classmethod
    def from_polar(cls, lightness: float, chroma: float, hue: float) -> Self:
        """Return the tone with this lightness, colourfulness (`chroma`) and hue (in radians)."""
        return cls(lightness, chroma * math.cos(hue), chroma * math.sin(hue))

    @property
    def chroma(self) -> float:
        return math.hypot(self.green_red, self.blue_yellow)

    @property
    def hue(self) -> float:
        return math.atan2(self.blue_yellow, self.green_red)

    def up(self, step: float) -> "Tone":
        """Return a lighter tone; it loses colour near white."""
        lightness = min(self.lightness + step, 0.985)
        fade = 1 - max(0.0, step) * 0.9
        return Tone(lightness, self.green_red * fade, self.blue_yellow * fade)

    def down(self, step: float) -> "Tone":
        """Return a darker tone."""
        return Tone(max(self.lightness - step, 0.08), self.green_red, self.blue_yellow)

    def against(self, step: float) -> "Tone":
        """Return a tone that is visible on this tone: a lighter one if this is dark, a darker one if this is light."""
        return self.up(step) if self.lightness < 0.55 else self.down(step)

    def deepened(self, step: float) -> "Tone":
        """Return a darker tone if this is light, and this tone if it is dark: both are visible on paper."""
        return self.down(step) if self.lightness > 0.5 else self

    def mix(self, other: "Tone", share: float) -> "Tone":
        """Return this tone mixed with a share (0 to 1) of the other tone."""
        return Tone(
            self.lightness + (other.lightness - self.lightness) * share,
            self.green_red + (other.green_red - self.green_red) * share,
            self.blue_yellow + (other.blue_yellow - self.blue_yellow) * share,
        )

    def __str__(self) -> str:
        """Return the tone as SVG and CSS write it, `#rrggbb`."""
        light, red, yellow = self.lightness, self.green_red, self.blue_yellow
        long = (light + 0.3963377774 * red + 0.2158037573 * yellow) ** 3
        medium = (light - 0.1055613458 * red - 0.0638541728 * yellow) ** 3
        short = (light - 0.0894841775 * red - 1.2914855480 * yellow) ** 3
        channels = (
            4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
            -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
            -0.0041960863 * long - 0.7034186147 * medium + 1.7076147010 * short,
        )
        return "#" + "".join(f"{round(_to_srgb(c) * 255):02x}" for c in channels)
