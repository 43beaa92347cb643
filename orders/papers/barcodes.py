"""Barcodes: Code 128 (ISO/IEC 15417), code set B, which any hand-held scanner reads and types."""

# The widths of bars and spaces in modules: six digits for each value, seven for the stop.
_WIDTHS = (
    "212222222122222221121223121322131222122213122312132212221213221312231212112232122132122231"
    "113222123122123221223211221132221231213212223112312131311222321122321221312212322112322211"
    "212123212321232121111323131123131321112313132113132311211313231113231311112133112331132131"
    "113123113321133121313121211331231131213113213311213131311123311321331121312113312311332111"
    "314111221411431111111224111422121124121421141122141221112214112412122114122411142112142211"
    "241211221114413111241112134111111242121142121241114212124112124211411212421112421211212141"
    "214121412121111143111341131141114113114311411113411311113141114131311141411131211412211214"
    "2112322331112"
)
_START_B, _STOP = 104, 106
_FIRST, _LAST = " ", "~"


def bar_values(text: str) -> list[int]:
    """Return a text's values in Code 128, with start, check value and stop; [] if it has other letters."""
    if not text or not all(_FIRST <= each <= _LAST for each in text):
        return []
    values = [_START_B, *(ord(each) - ord(_FIRST) for each in text)]
    check = (_START_B + sum(place * each for place, each in enumerate(values))) % 103
    return [*values, check, _STOP]


def bar_widths(text: str) -> list[int]:
    """Return the widths of a text's bars and spaces in modules, beginning with a bar; [] if the text has other letters."""
    values = bar_values(text)
    widths = "".join(_WIDTHS[6 * each : 6 * each + (7 if each == _STOP else 6)] for each in values)
    return [int(each) for each in widths]
