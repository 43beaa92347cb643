"""The shop has one clock, rounded as Cassandra keeps times; and writes that recognise their own row do so with its times."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest

from cassandra_db import current_time, statements
from cassandra_db.session import get_session
from inventory.operations import adjust_stock, receive_stock
from inventory.queries import get_stock_numbers
from promotions.operations import PromotionTerms, change_promotion, create_promotion, end_promotion
from promotions.queries import CODE, get_promotion
from promotions.rules import PERCENTAGE, code_key
from tests.architecture.apps import FILES, relative_path
from tests.lost_answers import AnswerLosingSession
from tests.reads import existing

# What reads the clock itself, and why.
CLOCKS = {
    "cassandra_db/clock.py": "is the clock",
    "cassandra_db/timestamps.py": "counts microseconds, for write timestamps alone",
}
_READS_CLOCK = re.compile(
    r"datetime\.(?:now|today|utcnow)\(|timezone\.now\(|date\.today\(|time\.time(?:_ns)?\(|"
    r"from time import [^\n]*\btime(?:_ns)?\b|localtime\(\)|gmtime\(\)"
)


def test_nothing_else_reads_the_clock() -> None:
    files = [path for path in FILES if relative_path(path) not in CLOCKS]
    assert len(files) > 200
    assert [relative_path(path) for path in files if _READS_CLOCK.search(path.read_text())] == []


def compares_times() -> Iterator[tuple[str, str]]:
    """Which conditional writes recognise their own row by a time: file, and what is compared."""
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "applied_if":
                for compared in ast.walk(node):
                    if isinstance(compared, ast.Compare) and "_at" in ast.unparse(compared.left):
                        yield relative_path(path), ast.unparse(compared)


def test_a_write_that_is_sent_again_recognises_its_own_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each write that recognises its row by a time, with its first answer lost; those that have an id of their own need no time."""
    by_time = {(path, compared) for path, compared in compares_times() if "None" not in compared}
    assert by_time == {
        ("inventory/operations/receipts.py", "row.reserved_at == now"),
        ("promotions/operations.py", "row.ended_at == now"),
        (
            "promotions/operations.py",
            "(row.title, row.ends_at, row.uses, row.per_person) == changed",
        ),
    }
    lossy = AnswerLosingSession(get_session())
    monkeypatch.setattr(statements, "get_session", lambda: lossy)
    monkeypatch.setattr(statements, "PAUSES", (0.0, 0.0))
    variant_id, code = uuid4(), f"C{uuid4().hex[:10]}"
    assert receive_stock(uuid4(), variant_id, "berlin", 5, 1, uuid4(), current_time())
    assert adjust_stock(
        variant_id,
        "berlin",
        -2,
        adjustment_id=uuid4(),
        actor="test",
        reason="broken",
        now=current_time(),
    )
    assert get_stock_numbers(variant_id, "berlin").available == 3
    terms = PromotionTerms(code=code, title="Ten", kind=PERCENTAGE, percent=Decimal(10))
    key = create_promotion(terms, current_time())
    assert key == code_key(code)
    old = existing(get_promotion(CODE, key))
    changed = replace(old, title="Eleven", ends_at=current_time() + timedelta(days=1))
    assert change_promotion(CODE, old, changed)
    new_key = create_promotion(replace(terms, code=f"{code}2"), current_time(), replaces=changed)
    assert existing(get_promotion(CODE, key)).ended_at
    assert end_promotion(CODE, new_key, current_time())
    assert lossy.lost_count >= 6
