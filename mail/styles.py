"""The styles of mails, in the brand's colours.

Some mail programs leave out a page's style sheet, so each element has its style beside it (`{% style "p" %}`). Those that know
dark windows keep the sheet: there it has the colours of the dark scheme alone, by the classes of the elements.
"""

from collections.abc import Mapping
from functools import lru_cache

from catalogue.palette import LIGHT, make_palette
from shop_settings.brand import get_brand

WIDTH = 600  # pixels
_FONT = "font-family:-apple-system,'Segoe UI',Roboto,Arial,sans-serif"
_TEXT = f"{_FONT};font-size:16px;line-height:1.55;color:#{{ink}}"
_SMALL = f"{_FONT};font-size:13px;line-height:1.5;color:#{{ink-soft}}"
_CELL = f"{_TEXT};padding:10px 8px 10px 0;border-bottom:1px solid #{{line}};vertical-align:top"
_STYLES = {
    "page": "margin:0;padding:0;background:#{paper}",
    "ground": "background:#{paper}",
    "frame": f"width:100%;max-width:{WIDTH}px",
    "head": f"{_TEXT};padding:24px 24px 16px",
    "name": f"{_FONT};font-size:22px;font-weight:600;color:#{{ink}};text-decoration:none",
    "card": f"{_TEXT};padding:28px 24px;background:#{{surface}};border-radius:6px",
    "foot": f"{_SMALL};padding:20px 24px 32px",
    "h1": f"{_FONT};margin:0 0 18px;font-size:21px;line-height:1.3;font-weight:600;color:#{{ink}}",
    "p": f"{_TEXT};margin:0 0 16px",
    "small": f"{_SMALL};margin:0 0 12px;overflow-wrap:anywhere",
    "cell": _CELL,
    "amount": f"{_CELL};padding-right:0;text-align:right;white-space:nowrap",
    "thumb": f"{_CELL};width:72px;padding-right:12px",
    "picture": "display:block;width:72px;height:72px;border:0;border-radius:4px;object-fit:cover",
    "a": "color:#{accent}",
    "button": f"{_FONT};display:inline-block;padding:13px 22px;border-radius:6px;background:#{{fill}};"
    "color:#{on-fill};font-size:16px;font-weight:600;line-height:1.25;text-decoration:none",
}


@lru_cache(maxsize=8)
def _fill_styles(accent: str, ground: str) -> Mapping[str, str]:
    colours = make_palette(accent, ground)[LIGHT]
    styles = dict(_STYLES)
    for name in styles:
        for colour, value in colours.items():
            styles[name] = styles[name].replace(f"{{{colour}}}", value)
    return styles


def list_styles() -> Mapping[str, str]:
    """Return the style of each element, in light windows."""
    brand = get_brand()
    return _fill_styles(brand.accent, brand.ground)


def get_colours(scheme: str) -> Mapping[str, str]:
    """Return the brand's colours in "light" or "dark" windows, by their names in the stylesheet, with "_" for "-"."""
    brand = get_brand()
    colours = make_palette(brand.accent, brand.ground)[scheme]
    return {name.replace("-", "_"): value for name, value in colours.items()}
