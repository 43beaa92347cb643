"""What members are told about their questions and answers."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from cassandra_db import Row
from catalogue.entities import Product
from moderation.states import PUBLISHED, REFUSED
from notifications.entities import TEXTS, Kind, Line, News, Notification
from notifications.product_lines import describe_products
from questions import queries
from questions.entities import QUESTION

# Named like the mails.
QUESTION_ANSWERED, QUESTION_REFUSED = "question_answered", "question_refused"


def prepare_news(product_id: UUID, detail: str, noted_at: datetime) -> list[News]:
    """Return what there is to tell about a text: a refusal to its writer, an answer to the asker. Raises CassandraUnavailable."""
    question_id, answer_id = map(UUID, detail.split())
    text = queries.get_text(product_id, question_id, answer_id)
    if text is None or text.is_erased:
        return []
    ids = {"product": product_id.hex, "question": question_id.hex, "text": text.text_id.hex}
    if text.state == REFUSED and text.decided_at:
        return [News(QUESTION_REFUSED, text.user_id, text.decided_at, ids)]
    question = queries.get_text(product_id, question_id)
    if (
        text.is_question
        or text.state != PUBLISHED
        or question is None
        or question.state != PUBLISHED
        or question.user_id == text.user_id
    ):
        return []
    return [News(QUESTION_ANSWERED, question.user_id, text.decided_at or text.written_at, ids)]


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the products and the texts. A text that was withdrawn or refused since is gone."""

    def write(note: Notification, product: Product, row: Row | None) -> Line | None:
        is_answer = note.kind == QUESTION_ANSWERED
        if row is None or row.state != (PUBLISHED if is_answer else REFUSED):
            return None
        text = (
            gettext("Your question about %(name)s has an answer")
            if is_answer
            else gettext("We haven’t published your text about %(name)s")
        )
        path = reverse("questions:answer", args=[product.slug, UUID(note.ids["question"])])
        return Line(text % {"name": product.name}, path)

    return describe_products(notes, write, _start)


def _start(note: Notification) -> queries.PendingResult:
    question_id, text_id = UUID(note.ids["question"]), UUID(note.ids["text"])
    return queries.TEXT.start(
        product_id=UUID(note.ids["product"]),
        question_id=question_id,
        answer_id=QUESTION if text_id == question_id else text_id,
    )


_GONE = _("News about a question that is gone")
KINDS = [
    Kind(QUESTION_ANSWERED, TEXTS, _("Question answered"), _GONE, describe, has_own_mail=True),
    Kind(
        QUESTION_REFUSED,
        TEXTS,
        _("Question or answer not published"),
        _GONE,
        describe,
        has_own_mail=True,
    ),
]
