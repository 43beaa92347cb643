"""The pages of papers: the kinds to choose from, and the made files in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from urllib.parse import urlencode
from uuid import UUID

from adminpanel.file_states import STATE_LABELS
from orders.papers.order_files import ORDER_FILES, OrderFile, list_order_files
from spreadsheets import entities
from spreadsheets.entities import SpreadsheetTask
from spreadsheets.operations import EXPORT_SECONDS

_NODE_BITS = 48
# A file with the names and addresses of more orders than this asks for a second-factor code.
MAX_WITHOUT_CODE = 25


@dataclass(frozen=True)
class KindLine:
    """A kind of paper or table to choose. `pages` is the least number of pages, or 0 if it is unknown."""

    kind: OrderFile
    pages: int
    is_chosen: bool


def list_kinds(total: int, chosen: str, role: str) -> list[KindLine]:
    """Return the kinds of papers and tables that a role may make for `total` orders."""
    return [
        KindLine(
            each, -(-total // each.orders_a_page) if each.orders_a_page else 0, each.name == chosen
        )
        for each in list_order_files(role).values()
        if not each.is_of_customers
    ]


@dataclass(frozen=True)
class PaperLine:
    """A paper or table in the list of made files."""

    task: SpreadsheetTask
    kind: OrderFile
    who: str
    state: str
    tone: str
    is_ready: bool


def paper_line(task: SpreadsheetTask, names: Mapping[UUID, str], now: datetime) -> PaperLine:
    """Return a paper or table in words. `names` are the names of the users who started the files."""
    is_ready = can_be_fetched(task, now)
    # The worker deletes an expired file only some minutes after its end.
    state = task.state if is_ready or task.state != entities.WRITTEN else entities.EXPIRED
    label, tone = STATE_LABELS[state]
    who = names.get(task.started_by, "")
    return PaperLine(task, ORDER_FILES[task.layout], who, str(label), tone, is_ready)


def can_be_fetched(task: SpreadsheetTask, now: datetime) -> bool:
    """Return whether a file is written and is less than an hour old."""
    return (
        task.state == entities.WRITTEN
        and task.changed_at is not None
        and now - task.changed_at < timedelta(seconds=EXPORT_SECONDS)
    )


def needs_code(kind: OrderFile, orders: int) -> bool:
    """Return whether a file of this kind, with this many orders, asks for a second-factor code."""
    return kind.is_of_customers or (kind.is_personal and orders > MAX_WITHOUT_CODE)


def file_id_of(form_id: UUID, kind: str, selection: list[tuple[str, str]]) -> UUID:
    """Return the id of the file to make: the same for the same form, kind and orders, else a different one.

    So a user can go back to the page and choose another kind. The id keeps the time that is part of the form's id.
    """
    text = urlencode([("kind", kind), *selection])
    node = int.from_bytes(sha256(text.encode()).digest()[: _NODE_BITS // 8])
    return UUID(
        int=(form_id.int >> _NODE_BITS << _NODE_BITS) | (form_id.int ^ node) % 2**_NODE_BITS
    )
