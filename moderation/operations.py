"""The moderation queue: texts enter it and leave it (R5)."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from uuid import UUID

from cassandra_db import current_microseconds, write
from catalogue.queries import get_product_at_quorum
from moderation.queries import SHOP, WAITING

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


@dataclass(frozen=True)
class QueuedText:
    """A review, a question or an answer in the moderation queue. `kind` is "" for a review, else "question" or "answer"."""

    review_id: UUID  # the id of the text, whatever its kind
    queued_at: datetime
    product_id: UUID
    user_id: UUID
    title: str
    held_for: str
    stars: int | None = None
    kind: str = ""
    question_id: UUID | None = None


def enter_queue(text: QueuedText, at: int) -> None:
    """Put a text into the queue as it was at `at`, in microseconds since 1970. Raises CassandraUnavailable."""
    day = text.queued_at.astimezone(UTC).date()
    # The day is written before the text, for a crash in between, and again after it: `leave_queue` may have deleted it.
    INSERT_DAY.run(shop=SHOP, day=day)
    product = get_product_at_quorum(text.product_id)
    name = product.name if product else ""
    INSERT_WAITING.run(at=at, day=day, product_name=name, **asdict(text))
    INSERT_DAY.run(shop=SHOP, day=day)


def leave_queue(text_id: UUID, queued_at: datetime, at: int) -> None:
    """Take a text out of the queue, as of `at` in microseconds; repeating it changes nothing. Raises CassandraUnavailable."""
    day = queued_at.astimezone(UTC).date()
    DELETE_WAITING.run(at=at, day=day, review_id=text_id)
    looked_at = current_microseconds()
    if not WAITING.all(day=day, most=1):
        DELETE_DAY.run(at=looked_at, shop=SHOP, day=day)
