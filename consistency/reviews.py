"""I37 to I39, I41: a product's rating, cards and review copies agree with its reviews, and removed pictures are deleted."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from cassandra_db import Row, Statement, current_microseconds, current_time
from catalogue.queries import get_product_at_quorum
from consistency.findings import Check, Violation, call, column_subjects
from jobs.due_rows import DueRows
from moderation.queries import is_queued_right
from moderation.states import WITHDRAWN
from reviews import operations, queries
from reviews.copies import DELETE_COPY, refresh_rating, refresh_review
from reviews.entities import Review
from reviews.pictures import follow_pictures
from reviews.queries import ALL, HELPFUL

# The worker finishes pending rows within a quarter of an hour.
FINISH_DELAY = timedelta(minutes=20)


def check_products(
    name: str,
    rules: tuple[str, ...],
    scan: Statement,
    pending: DueRows,
    find_faults: Callable[[UUID], Iterator[Violation]],
) -> Check:
    """Return the check of the products that `scan` lists. It leaves products with rows in `pending` to the worker."""

    def check(product_id: UUID) -> Iterator[Violation]:
        found, now = list(find_faults(product_id)), current_time()
        rows = pending.list_between(now - FINISH_DELAY, now) if found else ()
        if all(row.product_id != product_id for row in rows):
            yield from found

    return Check(name, rules, column_subjects(scan, "product_id", "products"), check)


def _find_faults(product_id: UUID) -> Iterator[Violation]:
    rows = queries.REVIEWS.all(product_id=product_id)
    reviews = [each for each in map(queries.review_from_row, rows) if each]
    present, wanted = (
        queries.rating_from_row(rows[0] if rows else None),
        operations.count_reviews(reviews),
    )
    what = f"product {product_id}"
    if present != wanted:
        fault, detail = "its numbers are not those of its reviews", f"{present} instead of {wanted}"
        fix = call(operations.set_numbers, product_id, present, wanted)
        yield Violation("I37", what, fault, detail, fix)
    yield from _check_copies(product_id, reviews)
    for review in reviews:
        if review.former_pictures:
            fault = "the files of pictures that were taken out are still there"
            fix = partial(follow_pictures, product_id, review.user_id)
            files = ", ".join(review.former_pictures)
            yield Violation("I41", f"{what} user {review.user_id}", fault, files, fix)
        if review.is_erased and _has_unread(review):
            fault = "unread words or pictures of an erased person are kept"
            fix = call(operations.forget_unread, review)
            yield Violation("I38", f"{what} review {review.review_id}", fault, review.state, fix)
    product = get_product_at_quorum(product_id)
    if product and (product.rating, product.rating_count) != wanted.shown:
        fault = "its cards say another rating than its reviews"
        detail = f"{product.rating} of {product.rating_count} instead of {wanted.shown}"
        yield Violation("I39", what, fault, detail, call(refresh_rating, product_id))


def _has_unread(review: Review) -> bool:
    words = review.title or review.body or review.refusal or review.state != WITHDRAWN
    return bool(review.new_pictures or (words and not review.is_counted))


def _check_copies(product_id: UUID, reviews: list[Review]) -> Iterator[Violation]:
    reading = {
        stars: queries.COPIES.start(product_id=product_id, stars=stars)
        for stars in range(ALL, HELPFUL + 1)
    }
    copies = {
        stars: {row.review_id: row for row in pending.rows()} for stars, pending in reading.items()
    }
    what, known = f"product {product_id}", {each.review_id for each in reviews}
    for review in reviews:
        if wrong := ", ".join(_list_wrong_copies(review, copies)):
            fault = "copies of the review are not as it is"
            fix = call(refresh_review, product_id, review.user_id)
            yield Violation("I38", f"{what} user {review.user_id}", fault, wrong, fix)
    for stars, listed in copies.items():
        for review_id in listed.keys() - known:
            key = {"product_id": product_id, "stars": stars, "review_id": review_id}
            fault, fix = f"a copy of no review stands under {stars}", partial(_delete_copy, key)
            yield Violation("I38", f"{what} review {review_id}", fault, fix=fix)


def _delete_copy(key: dict[str, object], now: datetime) -> None:
    DELETE_COPY.run(at=current_microseconds(), **key)


def _list_wrong_copies(review: Review, copies: dict[int, dict[UUID, Row]]) -> Iterator[str]:
    """Yield the lists with a missing, an old or a surplus copy of a review. `copies` is keyed by list, then by review id."""
    required = {ALL, review.stars} if review.is_counted else set()
    # The list of the most helpful reviews has at most a hundred reviews, so a review may be missing there.
    allowed = required | {HELPFUL} if review.is_counted else set()
    present = (review.version, review.stars, review.user_id)
    for stars, listed in copies.items():
        row = listed.get(review.review_id)
        if row is None:
            is_wrong = stars in required
        else:
            is_wrong = stars not in allowed or (row.version, row.given, row.user_id) != present
        if is_wrong:
            yield f"stars {stars}"
    own = {row.product_id: row.version for row in queries.BY_USER.all(user_id=review.user_id)}
    if own.get(review.product_id) != (None if review.is_erased else review.version):
        yield "reviews_by_user"
    if not is_queued_right(review):
        yield "reviews_to_moderate"


_RULES = ("I37", "I38", "I39", "I41")
CHECKS = (
    check_products("reviews", _RULES, queries.RATED, operations.PENDING_REVIEWS, _find_faults),
)
