"""The page that the big proofs make: what does not agree cannot be overlooked."""

from dataclasses import asdict
from typing import Any

from lxml import html

from tests.proof import OPEN_ROWS, ProofReport, render_page


def proof(report: ProofReport, *, passed: bool = True) -> dict[str, Any]:
    about = {
        "test": report.test,
        "title": report.title,
        "claim": report.claim,
        "numbers": report.numbers,
        "passed": passed,
    }
    made = {
        "seconds": 81.2,
        "made": "2026-11-22T09:14:00+00:00",
        "commit": "abc",
        "made_with": "Cassandra",
        "long": False,
    }
    return {**about, **made, "rows": list(map(asdict, report.rows))}


def test_what_does_not_agree_stands_first_and_a_long_table_is_folded() -> None:
    report = ProofReport(
        "tests/journeys/test_flash_sale.py::test_a_flash_sale_sells_what_there_is[two servers]"
    )
    report.state_claim("A sale <of> mugs", "None is sold twice.")
    report.add_figure("units", 10)
    for number in range(30):
        report.add_row(
            f"buyer {number}",
            "paid, order A",
            "order A" if number != 20 else "no order",
            is_match=number != 20,
        )
    assert report.disagreements == ["buyer 20: answered 'paid, order A', stored: no order"]
    page = html.fromstring(render_page([proof(report, passed=False)]))
    text = page.text_content()
    assert "1 of 1 proofs failed; 1 of 30 rows do not agree." in text
    assert "A sale <of> mugs" in text
    assert """make prove ARGS="tests/journeys/test_flash_sale.py -k 'two servers'\"""" in text
    first, folded = page.xpath("//tbody")
    assert [cell.text_content() for cell in first[0]] == [
        "buyer 20",
        "paid, order A",
        "no order",
        "NO",
    ]
    assert (len(first), len(folded), folded.getparent().getparent().tag) == (
        OPEN_ROWS,
        30 - OPEN_ROWS,
        "details",
    )


def test_when_all_agree_it_says_so_once() -> None:
    report = ProofReport("tests/journeys/test_workers.py::test_two_workers")
    report.state_claim("A worker is killed", "All mails go out.")
    report.add_row("a mail", "taken", "sent", is_match=True)
    page = html.fromstring(render_page([proof(report)]))
    assert "1 proof, 1 row: all agree." in page.text_content()
    assert page.xpath("//title")[0].text.startswith("Proved")
    assert not page.xpath("//details | //script | //*[@class='bad'] | //link | //img")
