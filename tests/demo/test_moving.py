"""A whole shop moves to another installation by its own files: the pages of the second are those of the first."""

from difflib import unified_diff
from pathlib import Path

import pytest

from tests.demo.moving import csv_lines, drop_former_prices
from tests.demo.test_loader import ask, shop
from tests.proof import ProofReport
from tests.remote_host import run_remote_host, send
from tests.web_server import collect_static_files


@pytest.mark.proof
@pytest.mark.timeout(900)
def test_x538_a_shop_moves_to_another_installation_with_the_same_pages(
    keyspace: str, tmp_path: Path, proof_report: ProofReport
) -> None:
    files = tmp_path / "files"
    files.mkdir()
    script = "from tests.demo.moving import {0}; {0}({1!r})"
    with run_remote_host() as host:
        # The first shop's pictures are fetched from its public address.
        both = {"STATIC_ROOT": str(collect_static_files())}
        first = both | {"PUBLIC_URL": f"http://{host.name}", "MEDIA_ROOT": str(tmp_path / "first")}
        second = both | {"FETCH_TEST_HOSTS": host.name, "MEDIA_ROOT": str(tmp_path / "second")}
        with shop("first", tmp_path / "index") as environment:
            before = ask(environment | first, script.format("fill", str(files)))
        media = tmp_path / "first"
        host.answers = {
            f"/media/{path.relative_to(media)}": send(path.read_bytes())
            for path in (media / "pictures").rglob("*.jpg")
        }
        reduced = drop_former_prices(files)
        with shop("second", tmp_path / "other") as environment:
            after = ask(environment | second, script.format("move", str(files)))
    assert after["faults"] == []
    assert len(before["pages"]) >= 55
    assert len(host.asked) == len(set(host.asked)) >= 4
    proof_report.state_claim(
        "A shop moves", "A second installation that reads a shop's files shows the same pages."
    )
    proof_report.add_figure("products", len(before["pages"]))
    proof_report.add_figure("photos fetched", len(host.asked))
    for slug, page in before["pages"].items():
        if slug not in reduced:
            moved = after["pages"].get(slug, "")
            changes = list(unified_diff(page.split("<"), moved.split("<"), lineterm="", n=0))
            said = " | ".join(changes[2:])[:500] or "same"
            proof_report.add_row(slug, "as in the first shop", said, is_match=not changes)
    assert after["lists"] == before["lists"]
    # The lines of the files, without the former prices that the second shop has never asked.
    place = csv_lines((files / "products.csv").read_bytes())[0].index("compare_at")
    assert [without(each, place) for each in before["lines"]] == [
        without(each, place) for each in after["lines"]
    ]


def without(line: str, place: int) -> list[str]:
    cells = line.split("\t")
    return [*cells[:place], *cells[place + 1 :]]
