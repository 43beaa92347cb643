"""The tables of questions. The rows of `questions_by_product` are authoritative."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class QuestionByProduct(Model):
    """R6: a product's questions, newest first, each followed by its answers, oldest first.

    Bound: texts of mostly 300 bytes, at most 8 KB. A question has at most 20 published or waiting answers
    (queries.MAX_ANSWERS).
    Writer: questions.operations, only by conditional writes.
    """

    __table_name__ = "questions_by_product"
    __partition_bytes__ = 50 * MB
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "pseudonymised",
        "why": "others have read and answered it; the name goes, the text by the shop's setting for reviews; of what was never public, all words",
    }
    product_id = columns.UUID(partition_key=True)
    question_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    answer_id = columns.TimeUUID(primary_key=True)  # the smallest id for the question itself
    user_id = columns.UUID()
    body = columns.Text()
    name = columns.Text()
    is_shops = columns.Boolean()
    state = columns.Text()  # published, held, refused, withdrawn
    version = columns.Integer()
    change_id = columns.UUID()  # the id of the form that made the version
    written_at = columns.DateTime()
    held_for = (
        columns.Text()
    )  # a reason as for reviews, or unanswered; "" if the text does not wait
    refusal = columns.Text()
    queued_at = columns.DateTime()
    decided_at = columns.DateTime()
    reporters = columns.Text()  # keyed hashes of the readers who reported the text since the last decision, with spaces between
    answers_id = columns.UUID()  # in a question's row: a new id with each new answer


class QuestionByUser(Model):
    """R6: a person's questions and answers, by the form that made them. A row is written once, before the text.

    Bound: the texts of one person, some hundreds of 100 bytes.
    Writer: questions.operations, only by conditional writes.
    """

    __table_name__ = "questions_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    change_id = columns.UUID(primary_key=True)
    product_id = columns.UUID()
    question_id = columns.TimeUUID()
    answer_id = columns.TimeUUID()


class PendingQuestion(Model):
    """R6: texts that may lack their row in the queue, or their mail, partitioned by the ten minutes in which they changed.

    Bound: the texts of ten minutes, 80 bytes each.
    Writer: questions.operations, before `questions_by_product` is changed; the worker removes the row.
    """

    __table_name__ = "pending_questions_by_period"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    period = columns.DateTime(partition_key=True)
    product_id = columns.UUID(primary_key=True)
    question_id = columns.TimeUUID(primary_key=True)
    answer_id = columns.TimeUUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal
