"""What clients were answered about a SKU's units fits together: one order of all operations explains all answers."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from benchmarks.nodes import Nodes
from inventory.warehouses import list_warehouses
from tests.environment import ROOT
from tests.factories import make_product
from tests.journeys.notebook import Note, Notebook, read_notes
from tests.journeys.shoppers import Article, Shop
from tests.journeys.stock_model import Stock, list_operations
from tests.linearizability import Judgement, judge_history
from tests.proof import LONG, ProofReport

CROWD = 12
CHECKOUTS, KILLS = (10_000, 1_000) if LONG else (150, 15)


def read_histories(folder: Path) -> dict[str, list[Note]]:
    """Return what all clients have noted, by SKU."""
    histories: dict[str, list[Note]] = {}
    for path in folder.glob("*.jsonl"):
        for note in read_notes(path):
            for sku in note.units:
                histories.setdefault(sku, []).append(note)
    return histories


def name_answer(note: Note) -> str:
    """Return an answer in a word or two."""
    if note.answer is None:
        return "no answer"
    if isinstance(note.answer, str):
        return note.answer
    return "refused" if note.kind == "reserve" else "over"


def describe_answers(notes: Iterable[Note]) -> str:
    """Return how often what was answered: "reserve: no answer 3, reserved 12"."""
    answers: dict[str, Counter[str]] = {}
    for note in notes:
        if note.kind != "count":
            answers.setdefault(note.kind, Counter())[name_answer(note)] += 1
    return "; ".join(
        f"{kind}: " + ", ".join(f"{answer} {count}" for answer, count in sorted(counts.items()))
        for kind, counts in sorted(answers.items())
    )


def judge_notes(notes: Sequence[Note], sku: str) -> Judgement[Stock]:
    """Look for one order of a SKU's operations that explains all answers."""
    return judge_history(list_operations(notes, sku), Stock())


def test_answers_to_shoppers_side_by_side_fit_together(tmp_path: Path) -> None:
    """I15."""
    articles = [
        Article(make_product(f"Article {number}"), list_warehouses()[number]) for number in (0, 1)
    ]
    shop = Shop(Notebook(tmp_path / "all.jsonl"), articles)
    for each in articles:
        shop.receive(uuid4(), {each.sku: 12})

    def go_shopping(number: int) -> None:
        for turn in range(3):
            shop.check_out(Random(f"{number} {turn}"))

    with ThreadPoolExecutor(CROWD) as pool:
        list(pool.map(go_shopping, range(CROWD)))
    shop.count()
    histories = read_histories(tmp_path)
    judgements = [judge_notes(notes, sku) for sku, notes in histories.items()]
    assert all(each.is_linearizable for each in judgements), judgements
    answers = [note.answer for notes in histories.values() for note in notes]
    assert any(isinstance(each, dict) for each in answers), "nobody was refused"


# ---- with kills


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[Mapping[str, str]]:
    """The suite's own node, or with LONG=1 three, with three replicas."""
    if not LONG:
        yield os.environ
        return
    nodes = Nodes(tmp_path / "cassandra", 3)
    try:
        three = os.environ | nodes.environment
        command = [sys.executable, "manage.py", "migrate"]
        subprocess.run(command, cwd=ROOT, env=three, check=True, stdout=subprocess.DEVNULL)
        yield three
    finally:
        nodes.end()


@pytest.mark.proof
@pytest.mark.timeout(4 * 3600 if LONG else 600)
def test_one_order_of_operations_explains_all_answers(
    environment: Mapping[str, str], tmp_path: Path, proof_report: ProofReport
) -> None:
    """I15."""
    proof_report.state_claim(
        "The shop's processes are killed among checkouts, and all answers fit together",
        f"{CHECKOUTS} checkouts in processes that are killed {KILLS} times by kill -9: of every SKU there is one order of its reservations,"
        " releases, payments and deliveries that explains every answer and the numbers in the end; what a killed process had asked for"
        " may have happened later, or never.",
    )
    folder = tmp_path / "histories"
    folder.mkdir()
    command = [sys.executable, "-m", "tests.journeys.killed_shoppers", str(folder)]
    done = subprocess.run(
        [*command, str(CHECKOUTS), str(KILLS)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for name, value in json.loads((folder / "summary.json").read_text()).items():
        proof_report.add_figure(name, value)
    histories = read_histories(folder)
    placing = [note for notes in histories.values() for note in notes if note.kind == "reserve"]
    answers = Counter(map(name_answer, placing))
    assert min(answers[each] for each in ("reserved", "refused", "no answer")) > KILLS / 2, answers
    for sku, notes in sorted(histories.items()):
        judgement = judge_notes(notes, sku)
        (numbers,) = (note.answer for note in notes if note.kind == "count")
        proof_report.add_row(
            sku,
            describe_answers(notes),
            f"{numbers}; {judgement}",
            is_match=judgement.is_linearizable,
        )
