"""Every write of reviews.

The truth is a row of `ratings_by_product` with the product's numbers: both change in one conditional batch. What follows from it, the copies
that pages read and the queue of the staff, is derived from it by `refresh_review`, which may be done at any time and by many: it is dated when
the truth was read. Before the truth changes, a pending row is written, by which the worker does it again after a crash.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from cassandra.util import uuid_from_time
from django.conf import settings
from django.urls import reverse

from accounts.queries import get_user
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
    wait_for_all,
    write,
)
from catalogue.operations import set_rating
from catalogue.queries import get_product_at_quorum
from jobs.due_rows import DueRows
from mail.addresses import email_key
from mail.operations import queue_mail
from moderation.operations import QueuedText, enter_queue, leave_queue
from moderation.queries import NEWS_FOR, reporter_key
from moderation.rules import add_report
from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from orders.queries import get_order
from reviews import queries
from reviews.entities import Rating, Review
from reviews.errors import NoSuchReview, ReviewChanged, ReviewsBusy
from reviews.links import guest_url
from reviews.queries import ALL, HELPFUL, MAX_HELPFUL

MAX_ATTEMPTS = 8
# Why a review that everybody reads waits: it has pictures that the staff have not seen.
PICTURES = "pictures"

INSERT_REVIEW = conditional_write(
    "R3",
    """INSERT INTO ratings_by_product (product_id, user_id, review_id, stars, title, body, name, state, verified, version,
       change_id, written_at, edited_at, queued_at, held_for, refusal, decided_at, answer, answered_at, order_id, pictures,
       new_pictures, former_pictures, reporters)
       VALUES (:product_id, :user_id, :review_id, :stars, :title, :body, :name, :state, :verified, :version,
       :change_id, :written_at, :edited_at, :queued_at, :held_for, :refusal, :decided_at, :answer, :answered_at, :order_id,
       :pictures, :new_pictures, :former_pictures, :reporters)
       IF NOT EXISTS""",
)
UPDATE_REVIEW = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET review_id = :review_id, stars = :stars, title = :title, body = :body, name = :name,
       state = :state, verified = :verified, version = :version, change_id = :change_id, written_at = :written_at,
       edited_at = :edited_at, queued_at = :queued_at, held_for = :held_for, refusal = :refusal, decided_at = :decided_at,
       answer = :answer, answered_at = :answered_at, order_id = :order_id, pictures = :pictures,
       new_pictures = :new_pictures, former_pictures = :former_pictures, reporters = :reporters
       WHERE product_id = :product_id AND user_id = :user_id IF version = :seen AND change_id != :change_id""",
)
DELETE_REVIEW = conditional_write(
    "R3",
    "DELETE FROM ratings_by_product WHERE product_id = :product_id AND user_id = :user_id IF version = :seen",
)
# null + 1 writes nothing: the numbers begin as noughts.
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
# For the check alone: what the rows say, where the numbers are as they were read.
SET_NUMBERS = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET rating_count = :count, rating_sum = :total, one = :one, two = :two, three = :three,
       four = :four, five = :five WHERE product_id = :product_id IF rating_count = :was_count AND rating_sum = :was_total""",
)
INSERT_COPY = write(
    "R1",
    """INSERT INTO reviews_by_product (product_id, stars, review_id, user_id, given, title, body, name, verified, version,
       written_at, edited_at, answer, answered_at, helpful, pictures) VALUES (:product_id, :stars, :review_id, :user_id, :given, :title,
       :body, :name, :verified, :version, :written_at, :edited_at, :answer, :answered_at, :helpful, :pictures) USING TIMESTAMP :at""",
)
DELETE_COPY = write(
    "R1",
    """DELETE FROM reviews_by_product USING TIMESTAMP :at
       WHERE product_id = :product_id AND stars = :stars AND review_id = :review_id""",
)
INSERT_BY_USER = write(
    "R2",
    """INSERT INTO reviews_by_user (user_id, product_id, review_id, version, state)
       VALUES (:user_id, :product_id, :review_id, :version, :state) USING TIMESTAMP :at""",
)
DELETE_BY_USER = write(
    "R2",
    "DELETE FROM reviews_by_user USING TIMESTAMP :at WHERE user_id = :user_id AND product_id = :product_id",
)
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
# The row is dated when it is written, so that taking it away spares a later one of the same minute.
INSERT_PENDING = write(
    "R3",
    """INSERT INTO pending_reviews_by_period (period, product_id, user_id, written)
       VALUES (:period, :product_id, :user_id, :written) USING TIMESTAMP :written""",
)
# Of its own: the other one shall not take the mark away.
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
# Reviews whose copies may lack something.
PENDING_REVIEWS = DueRows(
    job="reviews",
    label="review",
    select=queries.PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
    column="period",
    length=timedelta(minutes=10),
)
# Of no interest to anybody who reads the review: it stays the same version.
FORGET_FORMER = conditional_write(
    "R3",
    """UPDATE ratings_by_product SET former_pictures = '' WHERE product_id = :product_id AND user_id = :user_id
       IF version = :seen""",
)
STOP_REQUESTS = write(
    "R3", "INSERT INTO review_request_stops (email, stopped_at) VALUES (:email, :stopped_at)"
)
ALLOW_REQUESTS = write("R3", "DELETE FROM review_request_stops WHERE email = :email")
_NUMBER_NAMES = ("one", "two", "three", "four", "five")


def write_review(
    product_id: UUID,
    user_id: UUID,
    *,
    stars: int,
    title: str,
    body: str,
    name: str,
    verified: bool,
    held_for: str,
    seen: int,
    change_id: UUID,
    now: datetime,
    order_id: UUID | None = None,
    removed: Collection[str] = (),
) -> Review:
    """Write a person's review of a product, or change it; return it as it is then.

    `seen` is the version that its editor has read, 0 for none. `held_for` says why it waits for the staff, "" if nothing speaks
    against it. `order_id` is the order by whose mail a guest writes, `removed` are those of its pictures that it loses. Sent again with the same `change_id` it is written once. Raises ReviewChanged if it is another one than was read,
    ReviewsBusy, CassandraUnavailable.
    """
    now, before = truncate_to_milliseconds(now), queries.get_review(product_id, user_id)
    if before and before.change_id == change_id:
        refresh_review(product_id, user_id)
        return before
    if (before.version if before else 0) != seen:
        raise ReviewChanged
    text: dict[str, Any] = {
        "stars": stars,
        "title": title,
        "body": body,
        "name": name,
        "verified": verified,
        "state": HELD if held_for else PUBLISHED,
        "held_for": held_for,
        "change_id": change_id,
        "order_id": order_id,
    }
    after = (
        replace(
            before.without_pictures(removed),
            **text,
            version=seen + 1,
            edited_at=now,
            refusal="",
            decided_at=None,
            reporters=(),
        )
        if before
        else Review(
            product_id=product_id,
            user_id=user_id,
            review_id=uuid_from_time(now),
            version=1,
            written_at=now,
            **text,
        )
    )
    return _change(before, _queued(after, now))


def withdraw_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Take a person's review back: text and pictures go, and the person may write another one. Raises what `change_review` raises."""

    def withdraw(review: Review) -> Review:
        return replace(_without_words(review), state=WITHDRAWN)

    return change_review(product_id, user_id, withdraw, seen=seen, change_id=change_id, now=now)


def publish_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Let everybody read a review that waited or was refused, and see its pictures. Raises what `change_review` raises."""

    def publish(review: Review) -> Review:
        return replace(
            review,
            state=PUBLISHED,
            held_for="",
            refusal="",
            decided_at=now,
            pictures=review.own_pictures,
            new_pictures=(),
            reporters=(),
        )

    return change_review(product_id, user_id, publish, seen=seen, change_id=change_id, now=now)


def refuse_review(
    product_id: UUID, user_id: UUID, reason: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Refuse a review; its writer is mailed the reason. Raises what `change_review` raises."""

    def refuse(review: Review) -> Review:
        return replace(
            review, state=REFUSED, held_for="", refusal=reason, decided_at=now, reporters=()
        )

    return change_review(product_id, user_id, refuse, seen=seen, change_id=change_id, now=now)


def hold_review(
    product_id: UUID, user_id: UUID, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Put a review back into the queue, as if nothing had been decided. Raises what `change_review` raises."""

    def hold(review: Review) -> Review:
        return replace(
            review, state=HELD, held_for="undone", refusal="", decided_at=None, reporters=()
        )

    return change_review(product_id, user_id, hold, seen=seen, change_id=change_id, now=now)


def has_report(review: Review, reader_id: UUID) -> bool:
    """Return whether a reader's report would change nothing: the review waits for the staff, or the reader has reported it since they decided."""
    key = reporter_key(review.review_id, reader_id)
    return bool(review.held_for) or key in review.reporters


def report_review(seen: Review, reader_id: UUID, *, now: datetime) -> Review:
    """Note that a reader has reported a published review; it stays published. Return it as it is then.

    It waits for the staff at once; once they have decided about it, only when three people have reported it since.
    Raises ReviewChanged if its writer has changed it since it was `seen`, and what `change_review` raises.
    """
    key, review = reporter_key(seen.review_id, reader_id), seen

    def report(review: Review) -> Review:
        reporters, waits = add_report(
            review.reporters, key, is_decided=review.decided_at is not None
        )
        return replace(review, reporters=reporters, held_for="reported" if waits else "")

    for _attempt in retry_attempts(MAX_ATTEMPTS):
        if has_report(review, reader_id):
            return review
        try:
            return change_review(
                seen.product_id,
                seen.user_id,
                report,
                seen=review.version,
                change_id=uuid5(seen.review_id, f"{key} {review.version}"),
                now=now,
            )
        except ReviewChanged:
            present = queries.get_review(seen.product_id, seen.user_id)
            if present is None or present.edited_at != seen.edited_at or not present.is_counted:
                raise
            review = present  # another reader's report was quicker
    raise ReviewsBusy


def remove_picture(
    product_id: UUID, user_id: UUID, picture: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Take a picture out of a review, and delete its files. Raises what `change_review` raises."""

    def remove(review: Review) -> Review:
        return review.without_pictures({picture})

    return change_review(product_id, user_id, remove, seen=seen, change_id=change_id, now=now)


def answer_review(
    product_id: UUID, user_id: UUID, text: str, *, seen: int, change_id: UUID, now: datetime
) -> Review:
    """Answer a review as the shop, below it; no text takes the answer away. Raises what `change_review` raises."""

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
    """Change a review as `change` says, if it is the version that was read; return it as it is then.

    Raises NoSuchReview, or ReviewChanged if it is another one than was read, ReviewsBusy, CassandraUnavailable.
    """
    before = queries.get_review(product_id, user_id)
    if before is None or before.state == WITHDRAWN:
        if before and before.change_id == change_id:
            return before
        raise NoSuchReview
    if before.change_id == change_id:
        refresh_review(product_id, user_id)
        return before
    if before.version != seen:
        raise ReviewChanged
    after = replace(change(before), version=seen + 1, change_id=change_id)
    return _change(before, _queued(after, truncate_to_milliseconds(now)))


def _queued(review: Review, now: datetime) -> Review:
    if review.state == PUBLISHED:
        # Pictures wait for the staff even where the text does not.
        if review.new_pictures:
            review = replace(review, held_for=review.held_for or PICTURES)
        elif review.held_for == PICTURES:
            review = replace(review, held_for="")
    # Kept from then on: the row of the queue is found again by it, however often the review comes back there.
    return replace(review, queued_at=now) if review.is_waiting and not review.queued_at else review


def _change(before: Review | None, after: Review) -> Review:
    mark_pending(after.product_id, after.user_id)
    _apply(before, after)
    refresh_review(after.product_id, after.user_id)
    refresh_rating(after.product_id)
    return after


def _columns(review: Review) -> dict[str, Any]:
    found = {name: getattr(review, name) for name in Review.__dataclass_fields__}
    return {
        name: " ".join(value) if isinstance(value, tuple) else value
        for name, value in found.items()
    }


def _apply(before: Review | None, after: Review) -> None:
    """Write a review and what it changes of the product's numbers, both or neither. Raises ReviewChanged, ReviewsBusy, CassandraUnavailable."""
    row = (
        UPDATE_REVIEW.bind(**_columns(after), seen=before.version)
        if before
        else INSERT_REVIEW.bind(**_columns(after))
    )
    was, will_be = _numbers(before), _numbers(after)
    batch = [row]
    if was != will_be:
        added = (new - old for old, new in zip(was, will_be, strict=True))
        names = ("count", "total", *_NUMBER_NAMES)
        batch.append(
            ADD_NUMBERS.bind(product_id=after.product_id, **dict(zip(names, added, strict=True)))
        )

    def is_ours(found: Any) -> bool:
        return getattr(found, "change_id", None) == after.change_id

    for _attempt in retry_attempts(MAX_ATTEMPTS):
        if apply_batch(*batch, if_lost=applied_if(is_ours)):
            return
        present = queries.get_review(after.product_id, after.user_id)
        if present and present.change_id == after.change_id:
            return  # two tabs have sent one form: the other was faster, and wrote just this
        if (present.version if present else 0) != (before.version if before else 0):
            raise ReviewChanged
        SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, product_id=after.product_id)
    raise ReviewsBusy


def _numbers(review: Review | None) -> tuple[int, ...]:
    """Return what a review adds to its product's numbers: the count, the sum, and one to five."""
    stars = review.stars if review and review.is_counted else 0
    return (int(stars > 0), stars, *(int(stars == each) for each in range(1, 6)))


def mark_pending(product_id: UUID, user_id: UUID) -> None:
    """Note that a review's copies may lack something from now on. Raises CassandraUnavailable."""
    PENDING_REVIEWS.note(product_id=product_id, user_id=user_id)


def mark_pictures_pending(product_id: UUID, user_id: UUID) -> None:
    """Note that files wait to become pictures of a review, or to be deleted. Raises CassandraUnavailable."""
    INSERT_PENDING_PICTURES.run(
        period=PENDING_REVIEWS.find_partition(current_time()),
        product_id=product_id,
        user_id=user_id,
        written=current_microseconds(),
    )


def refresh_review(product_id: UUID, user_id: UUID) -> None:
    """Write all copies of a review as its row says, and delete those that are elsewhere; doing it again changes nothing.

    The mail about a refusal goes out from here, too: once. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    review = queries.get_review(product_id, user_id)
    if review is None:
        # Its person was erased: the review stands under another id, with the same copies.
        DELETE_BY_USER.run(at=at, user_id=user_id, product_id=product_id)
        return
    helpful = queries.count_votes(review.review_id)
    belongs = {ALL, review.stars} if review.is_counted else set()
    if belongs and helpful:
        belongs.add(HELPFUL)
    keys = {"product_id": product_id, "review_id": review.review_id, "at": at}
    values = {
        name: getattr(review, name)
        for name in (
            *("user_id", "title", "body", "name", "verified", "version"),
            *("written_at", "edited_at", "answer", "answered_at"),
        )
    } | {"pictures": " ".join(review.pictures)}
    wait_for_all(
        [
            INSERT_COPY.start(**keys, stars=each, given=review.stars, helpful=helpful, **values)
            if each in belongs
            else DELETE_COPY.start(**keys, stars=each)
            for each in range(ALL, HELPFUL + 1)
        ]
        + [_start_by_user(review, at)]
    )
    _refresh_queue(review, at)
    if review.state == REFUSED:
        _mail_refusal(review)


def _start_by_user(review: Review, at: int) -> Any:
    if review.user_id == erased_id(review.review_id):
        return DELETE_BY_USER.start(at=at, user_id=review.user_id, product_id=review.product_id)
    return INSERT_BY_USER.start(
        at=at,
        user_id=review.user_id,
        product_id=review.product_id,
        review_id=review.review_id,
        version=review.version,
        state=review.state,
    )


def _refresh_queue(review: Review, at: int) -> None:
    if review.queued_at is None:
        return
    if not review.is_waiting:
        leave_queue(review.review_id, review.queued_at, at)
        return
    queued_text = QueuedText(
        review.review_id,
        review.queued_at,
        review.product_id,
        review.user_id,
        review.title,
        review.held_for,
        review.stars,
    )
    enter_queue(queued_text, at)


def _mail_refusal(review: Review) -> None:
    product = get_product_at_quorum(review.product_id)
    if product is None or review.decided_at is None:
        return
    # Long after, the mail's claim has gone: what the check repairs then is no news.
    if current_time() - review.decided_at > NEWS_FOR:
        return
    to, url = _find_writer(review, product.slug)
    if not to:
        return
    queue_mail(
        uuid5(review.review_id, review.user_id.hex),
        f"refused:{review.version}",
        to,
        "review_refused",
        {"name": product.name, "reason": review.refusal, "url": url},
        review.decided_at,
    )


def _find_writer(review: Review, slug: str) -> tuple[str, str]:
    """Return the address of who wrote a review, and where it is changed; "" for somebody who was erased."""
    if review.order_id:
        order = get_order(review.order_id)
        return (order.email if order and not order.is_erased else ""), guest_url(
            review.order_id, slug
        )
    writer = get_user(review.user_id)
    return (writer.email if writer else ""), settings.PUBLIC_URL + reverse(
        "reviews:write", args=(slug,)
    )


def refresh_rating(product_id: UUID) -> bool:
    """Let a product's cards say its rating, if they say another one; return whether they did. Raises CassandraUnavailable."""
    at = current_microseconds()
    rating, product = queries.get_rating_at_quorum(product_id), get_product_at_quorum(product_id)
    if product is None or (product.rating, product.rating_count) == rating.shown:
        return False
    set_rating(product_id, *rating.shown, at)
    return True


def prune_helpful(product_id: UUID) -> None:
    """Keep the most helpful hundred of a product's reviews in their list. Raises CassandraUnavailable."""
    at = current_microseconds()
    rows = queries.COPIES.all(product_id=product_id, stars=HELPFUL)
    ranked = sorted(rows, key=lambda row: row.helpful or 0, reverse=True)
    wait_for_all(
        [
            DELETE_COPY.start(at=at, product_id=product_id, stars=HELPFUL, review_id=row.review_id)
            for row in ranked[MAX_HELPFUL:]
        ]
    )


def set_vote(review: Review, voter_id: UUID, *, is_helpful: bool, now: datetime) -> int:
    """Note that somebody finds a review helpful, or no longer does; twice is once. Return how many do.

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
        # Sent again it is refused by what it wrote itself: then it is as wanted, too.
        outcome = apply_batch(vote, count, if_lost=SEND_AGAIN)
        if outcome or queries.has_voted(review.review_id, voter_id) == is_helpful:
            break
        SEED_VOTES.apply(if_lost=REFUSED_MEANS_DONE, review_id=review.review_id)
    else:
        raise ReviewsBusy
    refresh_review(review.product_id, review.user_id)
    return queries.count_votes(review.review_id)


def erased_id(review_id: UUID) -> UUID:
    """Return the id under which a review stands whose person was erased: of nobody, and the same however often it is erased."""
    return uuid5(review_id, "erased")


def erase_reviews(user_id: UUID, *, keeps_texts: bool) -> None:
    """Take a person's name off all their reviews; the numbers stay. Raises CassandraUnavailable.

    A published text stays if the shop keeps texts. A text that is held, refused or withdrawn goes in any case.
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
            INSERT_REVIEW.bind(**_columns(nobodys)),
            DELETE_REVIEW.bind(
                product_id=review.product_id, user_id=review.user_id, seen=review.version
            ),
            if_lost=SEND_AGAIN,
        )
        # Gone: it was this write, or one whose answer was lost.
        present = queries.get_review(review.product_id, review.user_id)
        if outcome or present is None:
            refresh_review(review.product_id, new_id)
            return
        review = present  # it was changed meanwhile
    raise ReviewsBusy


def _as_nobodys(review: Review, *, keeps_text: bool) -> Review:
    """Return what is left of a review whose person is erased, under the id of nobody: of its words only what everybody could read."""
    new_id = erased_id(review.review_id)
    nobodys = replace(
        review if keeps_text and review.is_counted else _without_words(review),
        user_id=new_id,
        name="",
        version=review.version + 1,
        change_id=uuid5(new_id, str(review.version)),
        order_id=None,
    )
    # Nobody has seen these: not even where the text stays.
    nobodys = nobodys.without_pictures(nobodys.new_pictures)
    return _queued(nobodys, truncate_to_milliseconds(current_time()))


def forget_unread(review: Review) -> None:
    """Take from an erased person's review the words and pictures that nobody has read, as erasing does. Raises ReviewChanged, CassandraUnavailable."""
    _change(review, _as_nobodys(review, keeps_text=True))


def _without_words(review: Review) -> Review:
    """Return what is left of a review whose words go: its stars if everybody saw them, else nothing that could be published."""
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
    """Note that the files of what was taken out of a review are deleted. Raises CassandraUnavailable."""
    FORGET_FORMER.apply(
        if_lost=SEND_AGAIN,
        product_id=review.product_id,
        user_id=review.user_id,
        seen=review.version,
    )


def stop_requests(email: str, now: datetime) -> None:
    """Send an address no more mails that ask for reviews. Raises CassandraUnavailable."""
    STOP_REQUESTS.run(email=email_key(email), stopped_at=now)


def allow_requests(email: str) -> None:
    """Forget that an address wants no such mails. Raises CassandraUnavailable."""
    ALLOW_REQUESTS.run(email=email_key(email))


def set_numbers(product_id: UUID, present: Rating, wanted: Rating) -> None:
    """Set a product's numbers as its reviews say, where they are still those that were read. Raises CassandraUnavailable."""
    SEED_NUMBERS.apply(if_lost=REFUSED_MEANS_DONE, product_id=product_id)
    SET_NUMBERS.apply(
        if_lost=SEND_AGAIN,
        product_id=product_id,
        count=wanted.count,
        total=wanted.total,
        was_count=present.count,
        was_total=present.total,
        **dict(zip(_NUMBER_NAMES, wanted.counts, strict=True)),
    )


def load_reviews(product_id: UUID, reviews: Sequence[Review]) -> None:
    """Give a product that has no reviews yet all of these at once, some dozens; otherwise it keeps its own. Raises CassandraUnavailable."""
    for each in reviews:
        mark_pending(product_id, each.user_id)
    numbers = count_reviews(reviews)
    apply_batch(
        LOAD_NUMBERS.bind(
            product_id=product_id,
            count=numbers.count,
            total=numbers.total,
            **dict(zip(_NUMBER_NAMES, numbers.counts, strict=True)),
        ),
        *(INSERT_REVIEW.bind(**_columns(each)) for each in reviews),
        if_lost=SEND_AGAIN,
    )
    for each in reviews:
        refresh_review(product_id, each.user_id)
    refresh_rating(product_id)


def count_reviews(reviews: Iterable[Review]) -> Rating:
    """Return the numbers that reviews make."""
    sums = [_numbers(each) for each in reviews]
    count, total, *counts = (sum(column) for column in zip(*sums, strict=True)) if sums else [0] * 7
    return Rating(count, total, tuple(counts))
