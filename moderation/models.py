"""The staff's queue of reviews, questions and answers."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class ReviewToModerate(Model):
    """R5: reviews, questions and answers that wait for the staff, partitioned by the day on which they began to wait.

    Bound: the texts that began to wait on one day.
    Writer: moderation.operations.update_queue and leave_queue.
    """

    __table_name__ = "reviews_to_moderate"
    __partition_bytes__ = 10 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "pseudonymised",
        "why": "a copy of ratings_by_product and questions_by_product",
    }
    day = columns.Date(partition_key=True)
    review_id = columns.TimeUUID(primary_key=True)
    product_id = columns.UUID()
    user_id = columns.UUID()
    kind = columns.Text()  # question or answer; null for a review
    question_id = columns.TimeUUID()  # for a question or an answer
    product_name = columns.Text()
    stars = columns.Integer()
    title = columns.Text()
    held_for = columns.Text()
    queued_at = columns.DateTime()


class ModerationDay(Model):
    """R5: the days that have texts in the staff's queue (ReviewToModerate).

    Bound: one row for each day with waiting texts.
    Writer: moderation.operations.update_queue and leave_queue.
    """

    __table_name__ = "moderation_days"
    __partition_bytes__ = 100 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    day = columns.Date(primary_key=True)
