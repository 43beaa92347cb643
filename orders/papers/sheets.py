"""The base of all printed papers: A4 pages in the shop's typeface with lines, tables and barcodes.

Text from right to left is reordered line by line, and Arabic letters are joined. Letters that the typeface lacks become "?".
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import cast

from fontTools.ttLib import TTFont
from fpdf import FPDF
from fpdf.bidi import BidiParagraph
from fpdf.enums import MethodReturnValue, TextDirection, XPos, YPos
from pymupdf_fonts import myfont

from orders.papers.barcodes import bar_widths

# FiraGO, regular and bold, as its package names them.
_FACES = {"": "figo", "B": "figbo"}
_FAMILY = "FiraGO"
MARGIN, ROW = 18, 5  # mm
SOFT, LINE = (90, 90, 90), (190, 190, 190)
# Hebrew and Arabic, and the forms of their letters.
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_MAX_MODULE = 0.33  # mm: a wider bar is no easier to read


class Sheet(FPDF):
    """Pages in the shop's typeface. `folder` must exist until `output` returns. `lacks_letters` is set once a letter was missing."""

    def __init__(self, folder: Path, title: str, author: str, made_at: datetime) -> None:
        super().__init__(format="A4")
        self.lacks_letters = False
        self.set_margin(MARGIN)
        self.set_auto_page_break(auto=True, margin=24)
        for style, name in _FACES.items():
            file = folder / f"{name}.ttf"
            file.write_bytes(_face(name))
            self.add_font(_FAMILY, style, file)
        self.set_title(title)
        self.set_author(author)
        self.set_lang("en-IE")
        self.set_creation_date(made_at)
        self.set_draw_color(*LINE)

    def choose_font(self, size: float = 9.5, style: str = "") -> None:
        """Use this size (in points) and style ("" or "B") from now on."""
        self.set_font(_FAMILY, style, size)

    def printable(self, text: str) -> str:
        """Return a text of one line as it is printed; set `lacks_letters` if the typeface lacks some of its letters."""
        return in_visual_order(self._joined(text))

    def _joined(self, text: str) -> str:
        printable = printable_text(text)
        self.lacks_letters |= printable.count("?") > text.count("?")
        return join_letters(printable)

    def write_line(
        self, text: str, size: float = 9.5, style: str = "", *, width: float = 0
    ) -> None:
        """Write a text of one or more lines and continue below it."""
        self.choose_font(size, style)
        for line in self.wrap_text(text, width or self.w - self.r_margin - self.x):
            self.cell(width, size * 0.5, line, align="L", new_x=XPos.LEFT, new_y=YPos.NEXT)

    def write_table(
        self, head: list[str], rows: list[list[str]], widths: tuple[int, ...], aligned: str
    ) -> None:
        """Write rows in columns of these widths (mm), aligned L or R, with the headings on each page."""
        headings = [[name] for name in head]
        self.write_row(headings, widths, aligned, "B")
        for row in rows:
            self.choose_font()
            cells = [self.wrap_text(text, width) for text, width in zip(row, widths, strict=True)]
            if self.will_page_break(ROW * max(map(len, cells)) + 2):
                self.add_page()
                self.write_row(headings, widths, aligned, "B")
            self.write_row(cells, widths, aligned)

    def write_row(
        self, cells: list[list[str]], widths: Sequence[float], aligned: str, style: str = ""
    ) -> None:
        """Write one row of a table, each cell in lines that fit, and a rule below it."""
        top, left = self.get_y() + 1, self.l_margin
        self.choose_font(8.5 if style else 9.5, style)
        for lines, width, align in zip(cells, widths, aligned, strict=True):
            for row, line in enumerate(lines):
                self.set_xy(left, top + row * ROW)
                self.cell(width, ROW, line, align=align)
            left += width
        lowest = top + ROW * max(map(len, cells)) + 1
        self.line(self.l_margin, lowest, left, lowest)
        self.set_xy(self.l_margin, lowest)

    def wrap_text(self, text: str, width: float) -> list[str]:
        """Return a text as it is printed, in lines that fit into a width (mm)."""
        lines: list[str] = []
        for line in self._joined(text).split("\n"):
            if self.get_string_width(line) < width - 2:
                lines.append(line)
            else:
                broken = self.multi_cell(
                    width, ROW, line, align="L", dry_run=True, output=MethodReturnValue.LINES
                )
                lines += cast(list[str], broken)
        return [in_visual_order(each) for each in lines]

    def draw_barcode(self, text: str, left: float, top: float, width: float, height: float) -> bool:
        """Draw a text as a Code 128 barcode into a box (mm). Return False if the text cannot be encoded, or is too long."""
        widths = bar_widths(text)
        # The margins on both sides are ten modules each.
        module = min(_MAX_MODULE, width / (sum(widths) + 20)) if widths else 0
        if module < 0.15:
            return False
        self.set_fill_color(0)
        at = left + 10 * module
        for place, modules in enumerate(widths):
            if place % 2 == 0:
                self.rect(at, top, modules * module, height, style="F")
            at += modules * module
        return True


@cache
def _face(name: str) -> bytes:
    """Return a font face without its layout tables, which are unused and slow to subset."""
    font, file = TTFont(BytesIO(myfont(name)), recalcTimestamp=False), BytesIO()
    for table in ("GSUB", "GPOS", "GDEF"):
        del font[table]
    font.save(file)
    return file.getvalue()


@cache
def _printable_codepoints() -> frozenset[int]:
    """Return the characters that both faces have."""
    regular, bold = (
        TTFont(BytesIO(_face(name)), lazy=True).getBestCmap() for name in _FACES.values()
    )
    return frozenset(regular.keys() & bold.keys())


def printable_text(text: str) -> str:
    """Return a text with the characters that the typeface has; others become "?"."""
    known = _printable_codepoints()
    whole = unicodedata.normalize("NFC", text)
    return "".join(
        letter if letter == "\n" or ord(letter) in known else _nearest(letter) for letter in whole
    )


def _nearest(letter: str) -> str:
    """Return a letter's compatible form that the typeface has, '' for an invisible letter, else "?"."""
    plain = unicodedata.normalize("NFKC", letter)
    if unicodedata.category(letter) in ("Cc", "Cf", "Mn"):
        return ""
    return plain if all(ord(each) in _printable_codepoints() for each in plain) else "?"


@cache
def _letter_forms() -> dict[str, dict[str, str]]:
    """Return the typeface's forms of Arabic letters, by letters and then by "initial", "medial", "final" and "isolated"."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for code in (*range(0xFB50, 0xFBFF), *range(0xFE80, 0xFEFD)):
        form, _, letters = unicodedata.decomposition(chr(code)).partition("> ")
        if letters and code in _printable_codepoints():
            text = "".join(chr(int(each, 16)) for each in letters.split())
            found[text].setdefault(form[1:], chr(code))
    return found


def join_letters(text: str) -> str:
    """Return a text with its Arabic letters joined, in reading order."""
    if not _RIGHT_TO_LEFT.search(text):
        return text
    forms = _letter_forms()
    letters: list[str] = []
    for letter in text:  # lam and alef are one letter
        if letters and letters[-1] + letter in forms and len(letters[-1]) == 1:
            letters[-1] += letter
        else:
            letters.append(letter)
    joined = []
    for place, letter in enumerate(letters):
        before = place > 0 and "initial" in forms.get(letters[place - 1], ())
        after = place + 1 < len(letters) and "final" in forms.get(letters[place + 1], ())
        its = forms.get(letter, {})
        before, after = before and "final" in its, after and "initial" in its
        form = ("medial" if after else "final") if before else "initial" if after else "isolated"
        joined.append(its.get(form, letter))
    return "".join(joined)


def in_visual_order(line: str) -> str:
    """Return a line in the order in which it is printed from left to right."""
    if not _RIGHT_TO_LEFT.search(line):
        return line
    return str(BidiParagraph(line, base_direction=TextDirection.LTR).get_reordered_string())
