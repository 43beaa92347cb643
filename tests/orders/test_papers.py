"""Picking lists, packing slips, labels: drawn from lines, read back from the PDF."""

import unicodedata
from datetime import UTC, datetime
from io import BytesIO

from pypdf import PdfReader

from orders.papers.barcodes import bar_values, bar_widths
from orders.papers.sheets import in_visual_order, join_letters
from orders.papers.staff_papers import (
    LabelLine,
    PickLine,
    SlipLine,
    draw_address_labels,
    draw_packing_slips,
    draw_picking_list,
)
from tests.orders.reads import pages

NOW = datetime(2026, 5, 1, 9, tzinfo=UTC)


def bars(pdf: bytes) -> int:
    """How many bars stand on the first page: filled rectangles."""
    return PdfReader(BytesIO(pdf)).pages[0].get_contents().get_data().count(b" re f")  # type: ignore[union-attr]


def test_x176_a_picking_list_goes_through_the_warehouses_by_place() -> None:
    lines = [
        PickLine("AAAA-0001", "MUG-2", "Mug, blue", "cork", "A-2", 1),
        PickLine("AAAA-0001", "MUG-1", "Mug, olive", "berlin", "A-12-3", 2),
        PickLine("AAAA-0002", "MUG-1", "Mug, olive", "berlin", "A-12-3", 3),
        PickLine("AAAA-0002", "BOWL", "Bowl", "berlin", "A-2", 1),
        PickLine("AAAA-0002", "LOST", "Lost thing", "berlin", "", 1),
        PickLine("AAAA-0003"),
    ]
    (text,) = pages(draw_picking_list(lines, NOW))
    places = [text.index(each) for each in ("BOWL", "MUG-1", "LOST", "MUG-2")]
    assert places == sorted(places), (
        "Berlin's places in their order, what has none last, then Cork's"
    )
    assert "5 Mug, olive" in text.replace("\n", " "), "the sum over the orders"
    assert "2 × AAAA-0001, 3 × AAAA-0002" in text.replace("\xa0", " ")
    assert "8 units for 2 orders" in text
    assert "Nothing is to be packed for: AAAA-0003" in text
    # What a hundred orders want is longer than a page.
    many = [PickLine(f"AAAA-{n:04}", "MUG-1", "Mug", "berlin", "A-1", 1) for n in range(400)]
    found = pages(draw_picking_list(many, NOW))
    assert len(found) > 1
    assert all(f"AAAA-{n:04}" in "".join(found) for n in range(400))


def test_x176_each_parcel_has_a_slip_with_the_bars_of_its_order() -> None:
    def line(number: str, warehouse: str, sku: str) -> SlipLine:
        address = "Zażółć Gęślą\nTorstraße 1\n10115 Berlin"
        return SlipLine(
            number, warehouse, "1 May 2026", "Standard", "At the door", address, sku, "Mug", 2
        )

    lines = [
        line("AAAA-0001", "berlin", "M-1"),
        line("AAAA-0001", "berlin", "M-2"),
        line("AAAA-0001", "cork", "M-3"),
        line("AAAA-0002", "berlin", "M-1"),
    ]
    pdf = draw_packing_slips(lines, NOW)
    first, second, third = pages(pdf)
    for words in ("AAAA-0001", "Zażółć Gęślą", "10115 Berlin", "M-1", "M-2", "At the door"):
        assert words in first, words
    assert "M-3" in second
    assert "AAAA-0002" in third
    assert "AAAA-0001" not in third, "also at its foot"
    assert "€" not in first
    assert bars(pdf) == len(bar_widths("AAAA-0001")) // 2 + 1
    assert "Nothing is to be printed" in pages(draw_packing_slips([], NOW))[0]


def test_x176_labels_have_greek_and_arabic_names_and_say_what_they_lack() -> None:
    names = ["Ὀδυσσεὺς Ελύτης", "محمد الخوارزمي", "Sinéad O’Neill", "東京 太郎"]
    lines = [
        LabelLine(f"AAAA-{n:04}", "Standard", f"{names[n % 4]}\nTorstraße 1\n10115 Berlin")
        for n in range(9)
    ]
    first, second = pages(draw_address_labels(lines, NOW))
    assert first.count("Torstraße 1") == 8
    assert "Ὀδυσσεὺς Ελύτης" in first
    assert "Sinéad O’Neill" in first
    assert "?? ??" in first
    assert first.count("some letters: see the order") == 2
    assert second.count("Torstraße 1") == 1
    # Joined letters, from right to left; as one reads them they are the same again.
    joined = join_letters(names[1])
    assert joined != names[1]
    assert unicodedata.normalize("NFKC", joined) == names[1]
    assert in_visual_order(joined) == joined[::-1]
    assert in_visual_order(joined)[::-1] in first or in_visual_order(joined) in first
    # What is too long for a label is written smaller, all of it.
    long = LabelLine("AAAA-0001", "Standard", "\n".join(["A long name of a street " * 3] * 8))
    assert pages(draw_address_labels([long], NOW))[0].count("A long name") == 24


def test_x176_barcodes_are_those_of_the_standard() -> None:
    # The example of many books, in code set B: its check value is one more than in A, 54.
    assert bar_values("PJJ123C") == [104, 48, 42, 42, 17, 18, 19, 35, 55, 106]
    assert sum(bar_widths("PJJ123C")) == 9 * 11 + 13
    assert bar_widths("A")[:6] == [2, 1, 1, 2, 1, 4]
    assert bar_widths("A")[-7:] == [2, 3, 3, 1, 1, 1, 2]
    assert bar_widths("GRÖSSE") == bar_widths("") == []
