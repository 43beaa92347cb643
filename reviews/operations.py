"""Writes of reviews.

A row of `ratings_by_product` is authoritative; it changes with the product's numbers in one conditional batch. `refresh_review`
derives the copies and the staff's queue. Any process may call it at any time: the write timestamp is the time of its read. A
pending row is written before the review changes, so that the worker calls `refresh_review` after a crash.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from cassandra.util import uuid_from_time

from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    applied_if,
    apply_batch,
    conditional_write,
    current_microseconds,
    current_time,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from jobs.due_rows import DueRows
from mail.addresses import email_key
from moderation.errors import NoSuchText, TextChanged
from moderation.operations import report_text
from moderation.states import HELD, PUBLISHED, WITHDRAWN
from moderation.texts import erased_id
from reviews import queries
from reviews.copies import refresh_rating, refresh_review
from reviews.entities import Rating, Review, ReviewInput
from reviews.errors import ReviewsBusy

MAX_ATTEMPTS = 8
# The reason why a published review waits: the staff have not seen its new pictures.
PICTURES = "pictures"

INSERT_REVIEW = conditional_write(
    "R3",
    """INSERT INTO ratings_by_product (product_id, user_id, review_id, stars, title, body, name, state, verified, version,
       change_id, written_at, edited_at, queued_at, held_for, refusal, decided_at, answer, answered_at, order_id, imported,
       pictures, new_pictures, former_pictures, reporters)
       VALUES (:product_id, :user_id, :review_id, :stars, :title, :body, :name, :state, :verified, :version,
       :change_id, :written_at, :edited_at, :queued_at, :held_for, :refusal, :decided_at, :answer, :answered_at, :order_id,
       :imported, :pictures, :new_pictures, :former_pictures, :reporters)
       IF NOT EXISTS""",
)
UPDATE_REVIEW = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET review_id = :review_id, stars = :stars, title = :title, body = :body, name = :name,
       state = :state, verified = :verified, version = :version, change_id = :change_id, written_at = :written_at,
       edited_at = :edited_at, queued_at = :queued_at, held_for = :held_for, refusal = :refusal, decided_at = :decided_at,
       answer = :answer, answered_at = :answered_at, order_id = :order_id, imported = :imported,
       pictures = :pictures, new_pictures = :new_pictures, former_pictures = :former_pictures, reporters = :reporters
       WHERE product_id = :product_id AND user_id = :user_id IF version = :seen AND change_id != :change_id""",
)
DELETE_REVIEW = conditional_write(
    "R3",
    "DELETE FROM ratings_by_product WHERE product_id = :product_id AND user_id = :user_id IF version = :seen",
)
# In Cassandra null + 1 is null, so the numbers start at 0.
SEED_NUMBERS = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET rating_count = 0, rating_sum = 0, one = 0, two = 0, three = 0, four = 0, five = 0
       WHERE product_id = :product_id IF rating_count = null""",
)
ADD_NUMBERS = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET rating_count = rating_count + :count, rating_sum = rating_sum + :total,
       one = one + :one, two = two + :two, three = three + :three, four = four + :four, five = five + :five
       WHERE product_id = :product_id IF rating_count >= 0""",
)
LOAD_NUMBERS = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET rating_count = :count, rating_sum = :total, one = :one, two = :two, three = :three,
       four = :four, five = :five WHERE product_id = :product_id IF rating_count = null""",
)
# For the consistency check: sets the numbers if they are still the ones that the check has read.
SET_NUMBERS = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET rating_count = :count, rating_sum = :total, one = :one, two = :two, three = :three,
       four = :four, five = :five WHERE product_id = :product_id IF rating_count = :was_count AND rating_sum = :was_total""",
)
# The row has a write timestamp, so that its removal spares a later row of the same minutes.
INSERT_PENDING = write(
    "R3",
    """INSERT INTO pending_reviews_by_period (period, product_id, user_id, written)
       VALUES (:period, :product_id, :user_id, :written) USING TIMESTAMP :written""",
)
# This is a separate statement, because the one above would clear `has_pictures`.
INSERT_PENDING_PICTURES = write(
    "R3",
    """INSERT INTO pending_reviews_by_period (period, product_id, user_id, has_pictures, written)
       VALUES (:period, :product_id, :user_id, true, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "R3",
    """DELETE FROM pending_reviews_by_period USING TIMESTAMP :written
       WHERE period = :period AND product_id = :product_id AND user_id = :user_id""",
)
# Reviews whose copies may be incomplete.
PENDING_REVIEWS = DueRows(
    job="reviews",
    label="review",
    select=queries.PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
    column="period",
    length=timedelta(minutes=10),
)
# The version stays the same, because no reader sees a difference.
FORGET_FORMER = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET former_pictures = '' WHERE product_id = :product_id AND user_id = :user_id
       IF version = :seen""",
)
STOP_REQUESTS = write(
    "R3", "INSERT INTO review_request_stops (email, stopped_at) VALUES (:email, :stopped_at)"
)
ALLOW_REQUESTS = write("R3", "DELETE FROM review_request_stops WHERE email = :email")
_NUMBER_NAMES = ("count", "total", "one", "two", "three", "four", "five")


def write_review(
    product_id: UUID,
    user_id: UUID,
    said: ReviewInput,
    *,
    seen: int,
    change_id: UUID,
    now: datetime,
    removed: Collection[str] = (),
    written_at: datetime | None = None,
) -> Review:
    """Write a person's review of a product, or change the existing one. Return the stored review.

    `seen` is the version that the form showed, or 0. `removed` are the pictures to take from the review. `written_at` is
    when a new review was written in another shop. A form that is sent twice with the same `change_id` is written once.
    Raises TextChanged if the stored version is not `seen`. Also raises ReviewsBusy, CassandraUnavailable.
    """
    now, before = truncate_to_milliseconds(now), queries.get_review(product_id, user_id)
    if before and before.change_id == change_id:
        refresh_review(product_id, user_id)
        return before
    if (before.version if before else 0) != seen:
        raise TextChanged
    values = asdict(said) | {
        "state": HELD if said.held_for else PUBLISHED,
        "version": seen + 1,
        "change_id": change_id,
    }
    after = (
        replace(
            before.without_pictures(removed),
            **values,
            edited_at=now,
            refusal="",
            decided_at=None,
            reporters=(),
        )
        if before
        else Review(
            product_id=product_id,
            user_id=user_id,
            review_id=uuid_from_time(written_at or now),
            written_at=written_at or now,
            **values,
        )
    )
    return _change(before, _queued(after, now))


def withdraw_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Withdraw a person's review with its text and pictures; the person may write another review. Raises the errors of `change_review`."""

    def withdraw(review: Review) -> Review:
        return replace(_without_words(review), state=WITHDRAWN)

    return change_review(product_id, user_id, withdraw, seen=seen, change_id=change_id, now=now)


def publish_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Publish a review that waited or was refused, with its pictures. Raises the errors of `change_review`."""

    def publish(review: Review) -> Review:
        return replace(review.publish(now), pictures=review.own_pictures, new_pictures=())

    return change_review(product_id, user_id, publish, seen=seen, change_id=change_id, now=now)


def refuse_review(
    product_id: UUID, user_id: UUID, reason: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Refuse a review, and mail its writer the reason. Raises the errors of `change_review`."""

    def refuse(review: Review) -> Review:
        return review.refuse(reason, now)

    return change_review(product_id, user_id, refuse, seen=seen, change_id=change_id, now=now)


def hold_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Undo the staff's decision about a review, and put the review back into the queue. Raises the errors of `change_review`."""
    return change_review(product_id, user_id, Review.hold, seen=seen, change_id=change_id, now=now)


def report_review(seen: Review, reader_id: UUID, *, now: datetime) -> Review:
    """Store that a reader has reported a published review; return the review with the report.

    Raises TextChanged if the writer has changed the review since `seen` was read. Also raises what `change_review` raises.
    """

    def change(review: Review, report: Callable[[Review], Review], change_id: UUID) -> Review:
        ids = review.product_id, review.user_id
        return change_review(*ids, report, seen=review.version, change_id=change_id, now=now)

    def read() -> Review | None:
        present = queries.get_review(seen.product_id, seen.user_id)
        return present if present and present.edited_at == seen.edited_at else None

    return report_text(seen, reader_id, change, read)


def remove_picture(
    product_id: UUID, user_id: UUID, picture: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Remove a picture from a review; the worker deletes its files. Raises the errors of `change_review`."""

    def remove(review: Review) -> Review:
        return review.without_pictures({picture})

    return change_review(product_id, user_id, remove, seen=seen, change_id=change_id, now=now)


def answer_review(
    product_id: UUID, user_id: UUID, text: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Set the shop's answer below a review; an empty text removes it. Raises the errors of `change_review`."""

    def answer(review: Review) -> Review:
        return replace(review, answer=text, answered_at=now if text else None)

    return change_review(product_id, user_id, answer, seen=seen, change_id=change_id, now=now)


def change_review(
    product_id: UUID,
    user_id: UUID,
    change: Callable[[Review], Review],
    *,
    seen: int,
    change_id: UUID,
    now: datetime,
) -> Review:
    """Change a review by `change`, if it has the version `seen`; return the changed review.

    Raises TextChanged if the review has another version. Also raises NoSuchText, ReviewsBusy, CassandraUnavailable.
    """
    before = queries.get_review(product_id, user_id)
    if before is None or before.state == WITHDRAWN:
        if before and before.change_id == change_id:
            return before
        raise NoSuchText
    if before.change_id == change_id:
        refresh_review(product_id, user_id)
        return before
    if before.version != seen:
        raise TextChanged
    after = replace(change(before), version=seen + 1, change_id=change_id)
    return _change(before, _queued(after, truncate_to_milliseconds(now)))


def _queued(review: Review, now: datetime) -> Review:
    if review.state == PUBLISHED:
        # New pictures wait for the staff even if the text does not.
        if review.new_pictures:
            review = replace(review, held_for=review.held_for or PICTURES)
        elif review.held_for == PICTURES:
            review = replace(review, held_for="")
    return review.note_queued(now)


def _change(before: Review | None, after: Review) -> Review:
    mark_pending(after.product_id, after.user_id)
    _apply(before, after)
    refresh_review(after.product_id, after.user_id)
    refresh_rating(after.product_id)
    return after


def _apply(before: Review | None, after: Review) -> None:
    """Write a review and the change of the product's numbers in one batch. Raises TextChanged, ReviewsBusy, CassandraUnavailable."""
    row = (
        UPDATE_REVIEW.bind(**after.columns(), seen=before.version)
        if before
        else INSERT_REVIEW.bind(**after.columns())
    )
    was, will_be = _numbers(before), _numbers(after)
    batch = [row]
    if was != will_be:
        added = (new - old for old, new in zip(was, will_be, strict=True))
        batch.append(ADD_NUMBERS.bind(product_id=after.product_id, **_name_numbers(added)))

    def is_ours(found: Any) -> bool:
        return getattr(found, "change_id", None) == after.change_id

    for _attempt in retry_attempts(MAX_ATTEMPTS):
        if apply_batch(*batch, if_lost=applied_if(is_ours)):
            return
        present = queries.get_review(after.product_id, after.user_id)
        if present and present.change_id == after.change_id:
            return  # another tab has sent the same form earlier
        if (present.version if present else 0) != (before.version if before else 0):
            raise TextChanged
        SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, product_id=after.product_id)
    raise ReviewsBusy


def _numbers(review: Review | None) -> tuple[int, ...]:
    """Return a review's share of its product's numbers: the count, the sum of stars, and the counts for one to five stars."""
    stars = review.stars if review and review.is_counted else 0
    return (int(stars > 0), stars, *(int(stars == each) for each in range(1, 6)))


def _name_numbers(numbers: Iterable[int]) -> dict[str, int]:
    return dict(zip(_NUMBER_NAMES, numbers, strict=True))


def mark_pending(product_id: UUID, user_id: UUID) -> None:
    """Write the pending row of a review, before it changes. Raises CassandraUnavailable."""
    PENDING_REVIEWS.note(product_id=product_id, user_id=user_id)


def mark_pictures_pending(product_id: UUID, user_id: UUID) -> None:
    """Write the pending row of a review whose uploaded pictures wait for the worker. Raises CassandraUnavailable."""
    INSERT_PENDING_PICTURES.run(
        period=PENDING_REVIEWS.find_partition(current_time()),
        product_id=product_id,
        user_id=user_id,
        written=current_microseconds(),
    )


def erase_reviews(user_id: UUID, *, keeps_texts: bool) -> None:
    """Remove a person's name from all their reviews; the products' numbers stay. Raises CassandraUnavailable.

    `keeps_texts` keeps published texts. All other texts are deleted.
    """
    for review in queries.list_reviews_of(user_id):
        _erase(review, keeps_text=keeps_texts)
    for product_id in queries.list_product_ids_of(user_id):
        refresh_review(product_id, user_id)


def _erase(review: Review, *, keeps_text: bool) -> None:
    new_id = erased_id(review.review_id)
    mark_pending(review.product_id, new_id)
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        nobodys = _as_nobodys(review, keeps_text=keeps_text)
        outcome = apply_batch(
            INSERT_REVIEW.bind(**nobodys.columns()),
            DELETE_REVIEW.bind(
                product_id=review.product_id, user_id=review.user_id, seen=review.version
            ),
            if_lost=SEND_AGAIN,
        )
        # The review was moved by this write, or by an earlier one whose answer was lost.
        present = queries.get_review(review.product_id, review.user_id)
        if outcome or present is None:
            refresh_review(review.product_id, new_id)
            return
        review = present  # the review was changed meanwhile
    raise ReviewsBusy


def _as_nobodys(review: Review, *, keeps_text: bool) -> Review:
    """Return a review without its erased writer. Its words stay only if `keeps_text` and they were published."""
    new_id = erased_id(review.review_id)
    nobodys = replace(
        review if keeps_text and review.is_counted else _without_words(review),
        user_id=new_id,
        name="",
        version=review.version + 1,
        change_id=uuid5(new_id, str(review.version)),
        order_id=None,
    )
    # New pictures were never public: they are deleted even if the text stays.
    nobodys = nobodys.without_pictures(nobodys.new_pictures)
    return _queued(nobodys, truncate_to_milliseconds(current_time()))


def forget_unread(review: Review) -> None:
    """Delete unpublished words and pictures from an erased person's review. Raises TextChanged, CassandraUnavailable."""
    _change(review, _as_nobodys(review, keeps_text=True))


def _without_words(review: Review) -> Review:
    """Return a review without its words and pictures. A published review stays published for its stars; others are withdrawn."""
    return replace(
        review.without_pictures(review.own_pictures),
        state=PUBLISHED if review.is_counted else WITHDRAWN,
        title="",
        body="",
        held_for="",
        refusal="",
        answer="",
        reporters=(),
    )


def forget_former_pictures(review: Review) -> None:
    """Store that the files of a review's removed pictures are deleted. Raises CassandraUnavailable."""
    FORGET_FORMER.apply(
        if_lost=SEND_AGAIN,
        product_id=review.product_id,
        user_id=review.user_id,
        seen=review.version,
    )


def stop_requests(email: str, now: datetime) -> None:
    """Store that an e-mail address wants no more review requests. Raises CassandraUnavailable."""
    STOP_REQUESTS.run(email=email_key(email), stopped_at=now)


def allow_requests(email: str) -> None:
    """Allow review requests to an e-mail address that has stopped them. Raises CassandraUnavailable."""
    ALLOW_REQUESTS.run(email=email_key(email))


def set_numbers(product_id: UUID, present: Rating, wanted: Rating) -> None:
    """Set a product's numbers to `wanted`, if they are still `present`. Raises CassandraUnavailable."""
    SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, product_id=product_id)
    SET_NUMBERS.apply(
        if_lost=SEND_AGAIN,
        product_id=product_id,
        was_count=present.count,
        was_total=present.total,
        **_name_numbers((wanted.count, wanted.total, *wanted.counts)),
    )


def load_reviews(product_id: UUID, reviews: Sequence[Review]) -> None:
    """Write some dozens of reviews of a product at once, unless the product has reviews. Raises CassandraUnavailable."""
    for each in reviews:
        mark_pending(product_id, each.user_id)
    rating = count_reviews(reviews)
    apply_batch(
        LOAD_NUMBERS.bind(
            product_id=product_id, **_name_numbers((rating.count, rating.total, *rating.counts))
        ),
        *(INSERT_REVIEW.bind(**each.columns()) for each in reviews),
        if_lost=SEND_AGAIN,
    )
    for each in reviews:
        refresh_review(product_id, each.user_id)
    refresh_rating(product_id)


def count_reviews(reviews: Iterable[Review]) -> Rating:
    """Return the rating of these reviews."""
    sums = [_numbers(each) for each in reviews]
    count, total, *counts = (sum(column) for column in zip(*sums, strict=True)) if sums else [0] * 7
    return Rating(count, total, tuple(counts))
