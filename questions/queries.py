"""Reads of questions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from uuid import UUID

from cassandra_db import LOCAL_ONE, PendingResult, Row, page_key, page_token, read, scan
from moderation.states import PUBLISHED
from questions.entities import QUESTION, Question, Text

PAGE_LENGTH = 10
# The most published and waiting answers of a question, including the shop's answers.
MAX_ANSWERS = 20
# The number of questions on a product's page, and of rows that are read for them.
NEWEST_SHOWN, NEWEST_ROWS = 2, 24
_PAGE_ROWS = PAGE_LENGTH * (MAX_ANSWERS + 1) + 1

_COLUMNS = """product_id, question_id, answer_id, user_id, body, name, is_shops, state, version, change_id, written_at, held_for,
       refusal, queued_at, decided_at, reporters"""
_TEXTS = f"SELECT {_COLUMNS} FROM questions_by_product WHERE product_id = :product_id"  # noqa: S608
# R6: a product's questions with answers, newest first; the questions after a given one; one question; one text.
LISTED = read("R6", f"{_TEXTS} LIMIT :most", consistency=LOCAL_ONE)
LISTED_AFTER = read(
    "R6", f"{_TEXTS} AND question_id < :question_id LIMIT :most", consistency=LOCAL_ONE
)
ONE = read("R6", f"{_TEXTS} AND question_id = :question_id")
TEXT = read("R6", f"{_TEXTS} AND question_id = :question_id AND answer_id = :answer_id")
# R6: the states of a question's answers, and the id that changes with each new answer.
ANSWERS = read(
    "R6",
    """SELECT answer_id, state, version, change_id, answers_id FROM questions_by_product
       WHERE product_id = :product_id AND question_id = :question_id""",
)
# R6: all texts of a product, for the consistency check; the ids of the products with questions.
TEXTS = read("R6", _TEXTS)
ASKED = scan(
    "R6",
    "SELECT DISTINCT product_id FROM questions_by_product WHERE token(product_id) > :start AND token(product_id) <= :end",
)
# R6: the ids of a person's texts; the ids of the text that one form made.
BY_USER = read(
    "R6",
    "SELECT change_id, product_id, question_id, answer_id FROM questions_by_user WHERE user_id = :user_id",
)
BY_FORM = read(
    "R6",
    """SELECT change_id, product_id, question_id, answer_id FROM questions_by_user
       WHERE user_id = :user_id AND change_id = :change_id""",
)
# R6: texts whose row in the queue or mail may be missing.
PENDING = read(
    "R6",
    "SELECT period, product_id, question_id, answer_id, written FROM pending_questions_by_period WHERE period = :period",
)


@dataclass(frozen=True)
class QuestionPage:
    """A page of a product's questions, and the token of the next page; "" at the end."""

    questions: tuple[Question, ...]
    next_token: str


def _text(row: Row) -> Text:
    return Text(
        product_id=row.product_id,
        question_id=row.question_id,
        answer_id=row.answer_id,
        user_id=row.user_id,
        body=row.body or "",
        name=row.name or "",
        is_shops=bool(row.is_shops),
        state=row.state,
        version=row.version,
        change_id=row.change_id,
        written_at=row.written_at,
        held_for=row.held_for or "",
        refusal=row.refusal or "",
        queued_at=row.queued_at,
        decided_at=row.decided_at,
        reporters=tuple((row.reporters or "").split()),
    )


def _group(texts: Iterable[Text]) -> Iterator[Question]:
    """Group texts by question, leaving out answers whose question is missing."""
    for _, group in groupby(texts, lambda each: each.question_id):
        first, *others = group
        if first.is_question:
            yield Question(first, tuple(others))


def _published(texts: Iterable[Text]) -> Iterator[Question]:
    return _group(each for each in texts if each.state == PUBLISHED)


def prefetch_newest_questions(product_id: UUID) -> PendingResult:
    """Start reading a product's newest questions, for `newest_from_rows`."""
    return LISTED.start(product_id=product_id, most=NEWEST_ROWS)


def newest_from_rows(rows: Iterable[Row]) -> tuple[Question, ...]:
    """Return the newest published questions of a product, answered questions first."""
    found = sorted(_published(map(_text, rows)), key=lambda each: not each.answers)
    return tuple(found[:NEWEST_SHOWN])


def prefetch_question_page(product_id: UUID, after: str) -> PendingResult:
    """Start reading a page of a product's questions, for `question_page_from_rows`. Raises InvalidPageToken."""
    if not after:
        return LISTED.start(product_id=product_id, most=_PAGE_ROWS)
    (question_id,) = page_key(after, _list_name(product_id))
    return LISTED_AFTER.start(product_id=product_id, most=_PAGE_ROWS, question_id=question_id)


def question_page_from_rows(product_id: UUID, rows: Sequence[Row]) -> QuestionPage:
    """Return the page of published questions in these rows."""
    texts, last = list(map(_text, rows)), None
    if len(texts) == _PAGE_ROWS:
        # The last question may have more answers than these rows contain.
        whole = [each for each in texts if each.question_id != texts[-1].question_id] or texts
        texts, last = whole, whole[-1].question_id
    found = list(_published(texts))
    if len(found) > PAGE_LENGTH:
        found = found[:PAGE_LENGTH]
        last = found[-1].question.question_id
    return QuestionPage(tuple(found), page_token([last], _list_name(product_id)) if last else "")


def _list_name(product_id: UUID) -> str:
    return f"R6 {product_id.hex}"


def get_question(product_id: UUID, question_id: UUID) -> Question | None:
    """Return a question with all its answers, each in any state, or None. Raises CassandraUnavailable."""
    rows = ONE.all(product_id=product_id, question_id=question_id)
    return next(_group(map(_text, rows)), None)


def get_text(product_id: UUID, question_id: UUID, answer_id: UUID = QUESTION) -> Text | None:
    """Return a question or an answer, or None. Raises CassandraUnavailable."""
    row = TEXT.one(product_id=product_id, question_id=question_id, answer_id=answer_id)
    return _text(row) if row else None


def list_texts_of_product(product_id: UUID) -> list[Text]:
    """Return all questions and answers about a product, for the consistency check. Raises CassandraUnavailable."""
    return list(map(_text, TEXTS.all(product_id=product_id)))


def list_claims(user_id: UUID) -> list[Row]:
    """Return the rows of a person's list of texts: the ids of each text, and of the form that made it. Raises CassandraUnavailable."""
    return BY_USER.all(user_id=user_id)


def find_claim(user_id: UUID, change_id: UUID) -> Row | None:
    """Return the row with the ids of the text that a person's form has made, or None. Raises CassandraUnavailable."""
    return BY_FORM.one(user_id=user_id, change_id=change_id)


def list_texts_of(user_id: UUID) -> list[Text]:
    """Return a person's questions and answers in any state. Raises CassandraUnavailable."""
    reading = [
        TEXT.start(product_id=row.product_id, question_id=row.question_id, answer_id=row.answer_id)
        for row in list_claims(user_id)
    ]
    found = (pending.one() for pending in reading)
    return [_text(row) for row in found if row and row.user_id == user_id]
