"""What a file is shows in what is in it; what would fill the memory is refused before it is opened."""

import io
import random
import re
import tracemalloc
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import pytest

from spreadsheets import files
from spreadsheets.cells import (
    escape_xml,
    join_list,
    join_pairs,
    make_harmless,
    restore_harmless,
    split_list,
    split_pairs,
    unescape_xml,
)
from spreadsheets.errors import CellRefused, FileRefused
from spreadsheets.layouts import LAYOUTS, iterate_rows, read_lines
from spreadsheets.typed_values import format_price, parse_price, parse_whole_number
from tests.spreadsheets.files import csv_of, xlsx_of

HEAD = ["sku", "price", "compare_at"]
LINES = [HEAD, ["A-1", "12.50", ""], ["A-2", "8.00", "Größe €"]]


def table(content: bytes) -> tuple[list[str], list[tuple[int, list[str]]], str]:
    found = files.open_table(io.BytesIO(content), HEAD)
    return found.head, list(found.lines), found.encoding


def refusal(content: bytes) -> str:
    with pytest.raises(FileRefused) as refused:
        table(content)
    return str(refused.value)


def test_x107_encodings_and_separators_are_told_from_the_file() -> None:
    lines = [(2, LINES[1]), (3, LINES[2])]
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"):
        for separator in ",;\t":
            assert table(csv_of(LINES, encoding, separator)) == (HEAD, lines, ""), encoding
    assert table(csv_of(LINES, "cp1252", ";")) == (HEAD, lines, "cp1252")
    # An XLSX file is one whatever it is called; its numbers may be numbers.
    numbers: list[list[Any]] = [HEAD, ["A-1", 12.5, None], ["A-2", 8, "Größe €"]]
    texts = [(2, ["A-1", "12.5", ""]), (3, ["A-2", "8", "Größe €"])]
    assert [(n, each[:3]) for n, each in table(xlsx_of(numbers))[1]] == texts
    # A day stays one, and midnight stays midnight.
    days: list[list[Any]] = [
        HEAD,
        [date(2027, 3, 1), *map(datetime.fromisoformat, ("2027-03-01 00:00", "2027-03-01 09:00"))],
    ]
    ((_line, cells),) = table(xlsx_of(days))[1]
    assert cells[:3] == ["2027-03-01", "2027-03-01T00:00:00", "2027-03-01T09:00:00"]


def archive(*parts: tuple[str, bytes]) -> bytes:
    """Our own XLSX file, with some of its parts replaced."""
    made, content = dict(parts), io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(xlsx_of(LINES))) as good,
        zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as bad,
    ):
        for name in good.namelist():
            bad.writestr(name, made.pop(name, good.read(name)))
        for name, text in made.items():
            bad.writestr(name, text)
    return content.getvalue()


SHEET = "xl/worksheets/sheet1.xml"


def sheet(rows: bytes, before: bytes = b"") -> bytes:
    start = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
    return before + start + b"<sheetData>" + rows + b"</sheetData></worksheet>"


def test_s84_what_is_no_table_or_a_bomb_is_refused_with_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
    bombs = {
        "a row of a million cells": sheet(b"<row>" + b"<c/>" * 1_000_000 + b"</row>"),
        "no row at all": sheet(b"<c/>" * 1_000_000),
        "many rows": sheet(b"<row/>" * 100_100),
        "a long cell": sheet(b"<row><c><v>" + b"9" * 2_000_000 + b"</v></c></row>"),
        "rows in a row": sheet(b"<row>" * 3000 + b"</row>" * 3000),
        "cells between rows": sheet((b"<row/>" + b"<c/>" * 30) * 5000),
        "a long attribute": sheet(b"<row><c r='" + b"9" * 900_000 + b"'/></row>"),
        "a tag without an end": sheet(b"<row x='" + b"9" * 3_000_000),
        "a long comment": sheet(b"<!--" + b"9" * 3_000_000 + b"-->"),
        "entities": sheet(b"<row><c><v>&b;</v></c></row>", laughs),
    }
    for name, content in bombs.items():
        assert "XLSX file is too large" in refusal(archive((SHEET, content))), name
    monkeypatch.setattr(files, "MAX_SHARED_TEXTS", 1000)
    texts = b"<sst>" + b"<si/>" * (files.MAX_SHARED_TEXTS + 1) + b"</sst>"
    assert "XLSX file is too large" in refusal(archive(("xl/sharedStrings.xml", texts)))
    assert "more than 256 columns" in refusal(xlsx_of([["sku"], *[["x"] * 257]]))
    styles = ("xl/styles.xml", b"<x>" + b" " * files.MAX_PART_BYTES + b"</x>")
    assert "XLSX file is too large" in refusal(archive(styles))
    monkeypatch.setattr(files, "MAX_SHEET_BYTES", 100)
    assert "XLSX file is too large" in refusal(xlsx_of(LINES))
    monkeypatch.undo()
    # A text that many cells share is small, and large in each of them.
    monkeypatch.setattr(files, "MAX_SHEET_BYTES", 10_000)
    shared = files.Table(["sku"], ((line, ["x" * 900]) for line in range(2, 42)))
    with pytest.raises(FileRefused):
        list(files.unpack_workbook(shared))
    monkeypatch.undo()
    word = archive(("xl/workbook.xml", b"<document/>"))
    cases: dict[str, tuple[bytes, str]] = {
        "nothing": (b"", "empty"),
        "a mark alone": (b"\xef\xbb\xbf", "empty"),
        "an old Excel": (b"\xd0\xcf\x11\xe0" + bytes(500), "old Excel"),
        "half an archive": (xlsx_of(LINES)[:2000], "can’t be read"),
        "another archive": (word, "can’t be read"),
        "a picture": (b"\x89PNG\r\n\x1a\n\x81" + bytes(range(256)) * 3000, ""),
        "no end of a quote": (csv_of([HEAD]) + b'"' + b"x" * 500_000, "too long|can’t be read"),
        "a line of commas": (csv_of([HEAD]) + b"," * 5000, "columns"),
    }
    for name, (content, said) in cases.items():
        assert any(each in refusal(content) for each in said.split("|")), name
    monkeypatch.setattr(files, "MAX_LINES", 1)
    assert "more than 1 lines" in refusal(csv_of(LINES))


@pytest.mark.parametrize("separator", [",", "\n"])
def test_x105_whatever_a_cell_says_comes_back(separator: str) -> None:
    letters = [*"a ,:;\"\n\r\t'=+-@x", "é", "_x0041_", "\x00", "＝", "\u00a0", "\ufffe"]
    chance = random.Random(separator)
    for _ in range(1000):
        values = ["".join(chance.choices(letters, k=chance.randint(0, 6))) for _ in range(3)]
        assert split_list(join_list(values, separator), separator) == values
        pairs = {each: chance.choice(values) for each in values}
        parts = split_pairs(join_pairs(pairs.items(), separator), separator)
        assert [(label, text) for _written, label, text in parts] == [*pairs.items()]
        for each in values:
            assert restore_harmless(make_harmless(each)) == each
            assert unescape_xml(escape_xml(each)) == each
    assert unescape_xml("_xD83D__xdfff__x0041_") == "_xD83D__xdfff_A"
    assert split_list("red , blue") == ["red", "blue"]
    assert split_list('"Oslo" chair, x') == ['"Oslo" chair', "x"]


INSIDE = ["a;=1", "a;''=1", 'a;"=1"', "a\t=1", "a\n- b", "a\r\n@b", "a;\u00a0+1", "a\n'=1"]
FORMULAS = ["=1+1", "+1 2", "-1+1", "@SUM(A1)", "\t=1", "\r=1", " =1", "'=1", "＝1"]


def test_s51_a_cell_is_no_formula_and_comes_back_as_it_was() -> None:
    for each in FORMULAS:
        harmless = make_harmless(each)
        assert harmless.startswith("'"), each
        assert restore_harmless(harmless) == each
    for each in INSIDE:
        harmless = make_harmless(each)
        # Where the list separator is a semicolon, a cell begins there whatever the quotes say.
        assert re.search("[;\t\n]'", harmless), each
        assert restore_harmless(harmless) == each
    assert make_harmless("a; b\n\nc = d") == "a; b\n\nc = d"
    assert [make_harmless(each) for each in ("-1", "-12.50", "Mug", "")] == [
        "-1",
        "-12.50",
        "Mug",
        "",
    ]
    made = io.BytesIO()
    files.write_xlsx(made, [HEAD, ["=1", "12.50", "-3"]], frozenset({1, 2}))
    content = b"".join(files.csv_line(each) for each in [HEAD, ["=1", "12.50", "-3"]])
    assert b"'=1" in content
    assert table(content)[1] == [(2, ["=1", "12.50", "-3"])]
    assert [each[:3] for _line, each in table(made.getvalue())[1]] == [["=1", "12.5", "-3"]]
    with zipfile.ZipFile(made) as parts:
        text = parts.read(SHEET)
    assert b"<f>" not in text
    assert b"<v>12.5</v>" in text


def test_x107_the_memory_that_a_file_takes_does_not_grow_with_what_its_lines_say() -> None:
    layout, lines = LAYOUTS["products"], 10_000
    head = ["product", "description", "sku"]
    long = csv_of([head, *([f"p-{n}", "x" * 2000, f"S-{n}"] for n in range(lines))])
    tracemalloc.start()
    table = files.open_table(io.BytesIO(long), layout.head)
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    count = sum(1 for _row in iterate_rows(layout, read_lines(layout, table)))
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    assert count == lines
    # Of each line the hashes of its key and its SKU are kept.
    assert peak < lines * 400, "and not the lines"
    assert len(long) > lines * 2000


def test_x273_a_file_may_name_its_separator_as_excel_does() -> None:
    lines = [(2, LINES[1]), (3, LINES[2])]
    for separator in (*",;\t", "|"):
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            for first in (f"sep={separator}\r\n", f'"sep={separator}"\n', f"SEP={separator}\n"):
                content = (first + csv_of(LINES, "utf-8", separator).decode()).encode(encoding)
                assert table(content) == (HEAD, lines, ""), (first, encoding)


def test_x273_numbers_are_read_as_spreadsheets_write_them() -> None:
    numbers: list[list[Any]] = [HEAD, ["A-1", 123.30000000000001, 0.1 + 0.2], ["A-2", 250.0, None]]
    assert [each[1:3] for _line, each in table(xlsx_of(numbers))[1]] == [
        ["123.3", "0.3"],
        ["250", ""],
    ]
    prices = {
        **dict.fromkeys(("123.30000000000001", "123,3", " 123.30 "), "123.30"),
        "0.01": "0.01",
        "-1": "Enter a price above 0.",
        "0.00": "Enter a price above 0.",
        "1000000.01": "Enter a price of 1000000 at most.",
        "": "Enter a price.",
        "1e3": "Enter a price, such as 12.50.",
    }
    fractions = (
        "Enter a price with at most two decimals and no thousands separators, such as 1000.50."
    )
    prices |= dict.fromkeys(("1.000", "1,000", "0.0049", "12.5001"), fractions)
    whole = "Enter a whole number, without thousands separators."
    grams = {
        **dict.fromkeys(("250.0", "250", "250,00", "250.00000000000003"), "250"),
        **dict.fromkeys(("250.5", "1.000", "0.1"), whole),
        "x": "Enter a whole number.",
        "-1": "Enter a number from 0.",
        "1000001": "Enter a number of 1000000 at most.",
    }
    readers: list[tuple[dict[str, str], Callable[[str], str]]] = [
        (prices, lambda text: format_price(parse_price(text))),
        (grams, lambda text: str(parse_whole_number(text, 1_000_000))),
    ]
    for texts, read in readers:
        found = {}
        for text in texts:
            try:
                found[text] = read(text)
            except CellRefused as refused:
                found[text] = str(refused)
        assert found == texts
