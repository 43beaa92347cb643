"""Reads of the staff's queue (R5)."""

from datetime import UTC, date, timedelta

from cassandra_db import Row, read
from moderation.texts import ModeratedText

SHOP = "shop"
# The time after a decision within which a mail about it is still sent.
NEWS_FOR = timedelta(days=2)

# R5: the days with waiting texts; the waiting texts of a day.
DAYS = read("R5", "SELECT day FROM moderation_days WHERE shop = :shop")
WAITING = read(
    "R5",
    """SELECT day, review_id, product_id, user_id, kind, question_id, product_name, stars, title, held_for, queued_at
       FROM reviews_to_moderate
       WHERE day = :day LIMIT :most""",
)


def list_moderation_days() -> list[date]:
    """Return the days with waiting texts, oldest first. Raises CassandraUnavailable."""
    return [row.day.date() for row in DAYS.all(shop=SHOP)]


def list_waiting(most: int) -> list[Row]:
    """Return up to `most` waiting texts, oldest first. Raises CassandraUnavailable."""
    reading = [WAITING.start(day=day, most=most) for day in list_moderation_days()]
    rows = [row for pending in reading for row in pending.rows()]
    return sorted(rows, key=lambda row: row.queued_at)[:most]


def is_queued_right(text: ModeratedText) -> bool:
    """Return whether the queue is right: it has a row for the text if, and only if, the text waits. Raises CassandraUnavailable."""
    if text.queued_at is None:
        return True
    day = text.queued_at.astimezone(UTC).date()
    has_row = any(row.review_id == text.text_id for row in WAITING.all(day=day, most=10_000))
    return has_row == text.is_waiting and (not has_row or day in list_moderation_days())
