"""Writes of the staff's queue (R5), and reports by readers."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar
from uuid import UUID, uuid5

from cassandra_db import current_microseconds, retry_attempts, write
from catalogue.queries import get_product_at_quorum
from moderation.errors import TextChanged
from moderation.queries import SHOP, WAITING
from moderation.states import PUBLISHED
from moderation.texts import ModeratedText

MAX_ATTEMPTS = 20
_Text = TypeVar("_Text", bound=ModeratedText)

INSERT_WAITING = write(
    "R5",
    """INSERT INTO reviews_to_moderate (day, review_id, product_id, user_id, kind, question_id, product_name, stars, title,
       held_for, queued_at) VALUES (:day, :review_id, :product_id, :user_id, :kind, :question_id, :product_name, :stars,
       :title, :held_for, :queued_at)
       USING TIMESTAMP :at""",
)
DELETE_WAITING = write(
    "R5",
    "DELETE FROM reviews_to_moderate USING TIMESTAMP :at WHERE day = :day AND review_id = :review_id",
)
INSERT_DAY = write("R5", "INSERT INTO moderation_days (shop, day) VALUES (:shop, :day)")
DELETE_DAY = write(
    "R5", "DELETE FROM moderation_days USING TIMESTAMP :at WHERE shop = :shop AND day = :day"
)


def update_queue(
    text: ModeratedText,
    at: int,
    *,
    title: str,
    stars: int | None = None,
    kind: str = "",
    question_id: UUID | None = None,
) -> None:
    """Put a text into the staff's queue if it waits for them; otherwise take it out of the queue.

    `at` is the time at which the text was read, in microseconds since 1970. Raises CassandraUnavailable.
    """
    if text.queued_at is None:
        return
    if not text.is_waiting:
        leave_queue(text.text_id, text.queued_at, at)
        return
    day = text.queued_at.astimezone(UTC).date()
    # The day is written before the row, so that the row is found after a crash. It is written again afterwards, because
    # another process may have found the day empty and deleted it.
    INSERT_DAY.run(shop=SHOP, day=day)
    product = get_product_at_quorum(text.product_id)
    INSERT_WAITING.run(
        at=at,
        day=day,
        review_id=text.text_id,
        product_id=text.product_id,
        user_id=text.user_id,
        kind=kind,
        question_id=question_id,
        product_name=product.name if product else "",
        stars=stars,
        title=title,
        held_for=text.held_for,
        queued_at=text.queued_at,
    )
    INSERT_DAY.run(shop=SHOP, day=day)


def leave_queue(text_id: UUID, queued_at: datetime, at: int) -> None:
    """Delete a text's row in the staff's queue, and its day if no other text is left there. Raises CassandraUnavailable."""
    day = queued_at.astimezone(UTC).date()
    DELETE_WAITING.run(at=at, day=day, review_id=text_id)
    looked_at = current_microseconds()
    if not WAITING.all(day=day, most=1):
        DELETE_DAY.run(at=looked_at, shop=SHOP, day=day)


def report_text(
    text: _Text,
    reader_id: UUID,
    change: Callable[[_Text, Callable[[_Text], _Text], UUID], _Text],
    read: Callable[[], _Text | None],
) -> _Text:
    """Store that a reader has reported a published text, which stays published. Return the text with the report.

    `change` writes a change of the text under an id. `read` returns the present text, or None if its writer has changed it.
    Raises TextChanged if the writer has changed it, and the errors of `change` and `read`.
    """
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        if text.has_report(reader_id):
            return text
        change_id = uuid5(text.text_id, f"{text.reporter_key(reader_id)} {text.version}")
        try:
            return change(text, lambda before: before.report(reader_id), change_id)
        except TextChanged:
            present = read()
            if present is None or present.state != PUBLISHED:
                raise
            text = present  # another reader's report was faster
    raise TextChanged
