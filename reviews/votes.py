"""Votes for helpful reviews."""

from datetime import datetime
from uuid import UUID

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    apply_batch,
    conditional_write,
    retry_attempts,
)
from reviews import queries
from reviews.copies import refresh_review
from reviews.entities import Review
from reviews.errors import ReviewsBusy
from reviews.operations import MAX_ATTEMPTS, mark_pending

INSERT_VOTE = conditional_write(
    "R4",
    """INSERT INTO votes_by_review (review_id, voter_key, voted_at) VALUES (:review_id, :voter_key, :now) IF NOT EXISTS""",
)
DELETE_VOTE = conditional_write(
    "R4",
    "DELETE FROM votes_by_review WHERE review_id = :review_id AND voter_key = :voter_key IF EXISTS",
)
SEED_VOTES = conditional_write(
    "R4",
    "UPDATE votes_by_review SET helpful_count = 0 WHERE review_id = :review_id IF helpful_count = null",
)
ADD_VOTES = conditional_write(
    "R4",
    """UPDATE votes_by_review SET helpful_count = helpful_count + :count
       WHERE review_id = :review_id IF helpful_count >= 0""",
)


def set_vote(review: Review, voter_id: UUID, *, is_helpful: bool, now: datetime) -> int:
    """Vote for a review as helpful, or take the vote back; a repeat changes nothing. Return the number of votes.

    Raises ReviewsBusy, CassandraUnavailable.
    """
    key = {
        "review_id": review.review_id,
        "voter_key": queries.voter_key(review.review_id, voter_id),
    }
    vote = INSERT_VOTE.bind(**key, now=now) if is_helpful else DELETE_VOTE.bind(**key)
    count = ADD_VOTES.bind(review_id=review.review_id, count=1 if is_helpful else -1)
    mark_pending(review.product_id, review.user_id)
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        # A repeat is refused because of its own first write: the vote is stored already.
        outcome = apply_batch(vote, count, if_lost=SEND_AGAIN)
        if outcome or queries.has_voted(review.review_id, voter_id) == is_helpful:
            break
        SEED_VOTES.apply(if_lost=REFUSED_MEANS_DONE, review_id=review.review_id)
    else:
        raise ReviewsBusy
    refresh_review(review.product_id, review.user_id)
    return queries.count_votes(review.review_id)
