"""R5: the reads of the moderation queue."""

from datetime import date, timedelta
from uuid import UUID

from django.utils.crypto import salted_hmac

from cassandra_db import Row, read

SHOP = "shop"
# A refusal is mailed to the author of a review only this long after the decision.
NEWS_FOR = timedelta(days=2)

DAYS = read("R5", "SELECT day FROM moderation_days WHERE shop = :shop")
WAITING = read(
    "R5",
    """SELECT day, review_id, product_id, user_id, kind, question_id, product_name, stars, title, held_for, queued_at
       FROM reviews_to_moderate
       WHERE day = :day LIMIT :most""",
)


def reporter_key(text_id: UUID, user_id: UUID) -> str:
    """Return the pseudonym of a person who reported a text; only the shop's key links it to the person."""
    return salted_hmac(
        "reviews.report", f"{text_id.hex} {user_id.hex}", algorithm="sha256"
    ).hexdigest()[:32]


def list_moderation_days() -> list[date]:
    """Return the days that have texts in the queue, oldest first. Raises CassandraUnavailable."""
    return [row.day.date() for row in DAYS.all(shop=SHOP)]


def list_waiting(most: int) -> list[Row]:
    """Return the queued texts, oldest first, at most `most`. Raises CassandraUnavailable."""
    reading = [WAITING.start(day=day, most=most) for day in list_moderation_days()]
    rows = [row for pending in reading for row in pending.rows()]
    return sorted(rows, key=lambda row: row.queued_at)[:most]
