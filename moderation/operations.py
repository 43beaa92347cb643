"""Puts texts into the queue of the staff, and takes them out (R5)."""

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


def enter_queue(
    text_id: UUID,
    queued_at: datetime,
    at: int,
    *,
    product_id: UUID,
    user_id: UUID,
    title: str,
    held_for: str,
    stars: int | None = None,
    kind: str = "",
    question_id: UUID | None = None,
) -> None:
    """Let a review, a question or an answer wait for the staff, as it was at `at` microseconds since 1970. Raises CassandraUnavailable."""
    day = queued_at.astimezone(UTC).date()
    # Before it, so that it is found after a crash; afterwards, because another may have found the day empty and taken it away.
    INSERT_DAY.run(shop=SHOP, day=day)
    product = get_product_at_quorum(product_id)
    INSERT_WAITING.run(
        at=at,
        day=day,
        review_id=text_id,
        product_id=product_id,
        user_id=user_id,
        kind=kind,
        question_id=question_id,
        product_name=product.name if product else "",
        stars=stars,
        title=title,
        held_for=held_for,
        queued_at=queued_at,
    )
    INSERT_DAY.run(shop=SHOP, day=day)


def leave_queue(text_id: UUID, queued_at: datetime, at: int) -> None:
    """Take away what waited for the staff, as it was decided by `at`; twice is once. Raises CassandraUnavailable."""
    day = queued_at.astimezone(UTC).date()
    DELETE_WAITING.run(at=at, day=day, review_id=text_id)
    looked_at = current_microseconds()
    if not WAITING.all(day=day, most=1):
        DELETE_DAY.run(at=looked_at, shop=SHOP, day=day)
