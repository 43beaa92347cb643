"""The tables of reviews. `ratings_by_product` is authoritative; the other tables of reviews are copies of it."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB


class RatingByProduct(Model):
    """R3: a product's rating, and each person's review of it.

    The rating's numbers are static and count the published reviews.
    Bound: 50,000 reviews of a product, mostly 1 KB, at most 20 KB.
    Writer: reviews.operations. One conditional batch writes a review and the numbers.
    """

    __table_name__ = "ratings_by_product"
    __partition_bytes__ = 100 * MB
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "pseudonymised",
        "why": "the stars stay under an id of nobody, so that the rating stays right; the name goes, the text by the shop's setting; of what was never public, all words",
    }
    product_id = columns.UUID(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    rating_count = columns.Integer(static=True)
    rating_sum = columns.Integer(static=True)
    one = columns.Integer(static=True)
    two = columns.Integer(static=True)
    three = columns.Integer(static=True)
    four = columns.Integer(static=True)
    five = columns.Integer(static=True)
    review_id = columns.TimeUUID()
    stars = columns.Integer()
    title = columns.Text()
    body = columns.Text()
    name = columns.Text()
    state = columns.Text()  # published, held, refused, withdrawn
    verified = columns.Boolean()
    imported = columns.Boolean()  # from a former shop; until its writer changes it here
    version = columns.Integer()
    change_id = columns.UUID()  # the id of the form that made the version
    written_at = columns.DateTime()
    edited_at = columns.DateTime()
    queued_at = (
        columns.DateTime()
    )  # the time at which the review first waited: its day in the queue
    held_for = (
        columns.Text()
    )  # links, words, repeated, crowd, reported, pictures, again, undone; "" if nothing waits
    refusal = columns.Text()  # the reason of a refusal, which the writer reads
    decided_at = columns.DateTime()
    answer = columns.Text()
    answered_at = columns.DateTime()
    order_id = columns.UUID()  # for a guest's review: the order whose mail led to the form
    pictures = (
        columns.Text()
    )  # the published pictures (names of catalogue.photos), with spaces between
    new_pictures = columns.Text()  # pictures that the staff have not seen yet
    former_pictures = columns.Text()  # removed pictures, until the worker has deleted their files
    reporters = columns.Text()  # keyed hashes of the readers who reported the review since the last decision, with spaces between


class ReviewByProduct(Model):
    """R1: a product's published reviews, newest first.

    `stars` chooses a list: 0 for all reviews, 1 to 5 for the reviews with as many stars, 6 for the 100 most helpful ones.
    Bound: 50,000 reviews of some 1 KB in a partition.
    Writer: reviews.copies.refresh_review. The write timestamp is the time at which the authoritative review was read.
    """

    __table_name__ = "reviews_by_product"
    __partition_bytes__ = 50 * MB
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "pseudonymised",
        "why": "a copy of ratings_by_product",
    }
    product_id = columns.UUID(partition_key=True)
    stars = columns.Integer(partition_key=True)
    review_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    user_id = columns.UUID()
    given = columns.Integer()
    title = columns.Text()
    body = columns.Text()
    name = columns.Text()
    verified = columns.Boolean()
    version = columns.Integer()
    written_at = columns.DateTime()
    edited_at = columns.DateTime()
    answer = columns.Text()
    answered_at = columns.DateTime()
    helpful = columns.Integer()
    pictures = columns.Text()


class ReviewByUser(Model):
    """R2: the list of a person's reviews, in any state.

    Bound: the products that one person has reviewed, some hundreds.
    Writer: reviews.copies.refresh_review.
    """

    __table_name__ = "reviews_by_user"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    product_id = columns.UUID(primary_key=True)
    review_id = columns.TimeUUID()
    version = columns.Integer()
    state = columns.Text()


class VoteByReview(Model):
    """R4: the votes for a review and their number. A voter is stored as a keyed hash.

    Bound: the voters, some 60 bytes each.
    Writer: reviews.votes.set_vote. One conditional batch writes a vote and the number.
    """

    __table_name__ = "votes_by_review"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    review_id = columns.TimeUUID(partition_key=True)
    voter_key = columns.Text(primary_key=True)
    helpful_count = columns.Integer(static=True)
    voted_at = columns.DateTime()


class ReviewRequestStop(Model):
    """E-mail addresses that get no review requests.

    Bound: one row a partition.
    Writer: reviews.operations.
    """

    __table_name__ = "review_request_stops"
    __partition_bytes__ = 1 * KB
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    email = columns.Text(partition_key=True)  # casefolded
    stopped_at = columns.DateTime()


class PendingReview(Model):
    """R3: reviews whose copies may be incomplete, partitioned by the ten minutes in which they changed.

    Bound: the reviews and votes of ten minutes, mostly dozens, at most some ten thousand of 60 bytes.
    Writer: reviews.operations, before `ratings_by_product` is changed; the worker removes the row.
    """

    __table_name__ = "pending_reviews_by_period"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "a note for the worker, gone within minutes",
    }
    period = columns.DateTime(partition_key=True)
    product_id = columns.UUID(primary_key=True)
    user_id = columns.UUID(primary_key=True)
    has_pictures = columns.Boolean()  # whether uploaded pictures wait for the worker
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal
