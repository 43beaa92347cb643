"""Reads of reviews."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils.crypto import salted_hmac

from cassandra_db import (
    LOCAL_ONE,
    LOCAL_QUORUM,
    PendingResult,
    Row,
    page_key,
    page_token,
    read,
    scan,
)
from mail.addresses import email_key, email_keys
from moderation.states import WITHDRAWN
from orders import queries as orders
from reviews.entities import ListedReview, Rating, Review
from web.encryption import keyed_digests

ALL, HELPFUL = 0, 6
PAGE_LENGTH = 10
# The number of reviews on a product's page.
NEWEST_SHOWN = 3
MAX_HELPFUL = 100
# The most orders that are searched for a reviewed product.
MAX_ORDERS = 100

_TRUTH = """SELECT product_id, user_id, rating_count, rating_sum, one, two, three, four, five, review_id, stars, title, body,
       name, state, verified, version, change_id, written_at, edited_at, queued_at, held_for, refusal, decided_at, answer,
       answered_at, order_id, imported, pictures, new_pictures, former_pictures, reporters FROM ratings_by_product"""
# R3: a person's review of a product; a product's numbers; the whole partition, for the consistency check.
REVIEW = read("R3", f"{_TRUTH} WHERE product_id = :product_id AND user_id = :user_id")
_NUMBERS = "SELECT rating_count, rating_sum, one, two, three, four, five FROM ratings_by_product WHERE product_id = :product_id LIMIT 1"
RATING = read("R3", _NUMBERS, consistency=LOCAL_ONE)
RATING_NOW = RATING.with_consistency(LOCAL_QUORUM)
REVIEWS = read("R3", f"{_TRUTH} WHERE product_id = :product_id")
RATED = scan(
    "R3",
    "SELECT DISTINCT product_id FROM ratings_by_product WHERE token(product_id) > :start AND token(product_id) <= :end",
)
_LISTED = """SELECT product_id, review_id, user_id, given, title, body, name, verified, version, written_at, edited_at, answer,
       answered_at, helpful, pictures FROM reviews_by_product WHERE product_id = :product_id AND stars = :stars"""
# R1: a product's reviews, newest first; the reviews after a given one.
LISTED = read("R1", f"{_LISTED} LIMIT :most", consistency=LOCAL_ONE)
LISTED_AFTER = read(
    "R1", f"{_LISTED} AND review_id < :review_id LIMIT :most", consistency=LOCAL_ONE
)
LISTED_ONE = read("R1", f"{_LISTED} AND review_id = :review_id")
COPIES = read(
    "R1",
    "SELECT review_id, user_id, given, version, helpful, name FROM reviews_by_product WHERE product_id = :product_id AND stars = :stars",
)
# R2: a person's reviews.
BY_USER = read(
    "R2",
    "SELECT product_id, review_id, version, state FROM reviews_by_user WHERE user_id = :user_id",
)
# R3: whether an address gets no review requests.
STOPPED = read("R3", "SELECT stopped_at FROM review_request_stops WHERE email = :email")
# R4: the number of votes for a review.
VOTES = read("R4", "SELECT helpful_count FROM votes_by_review WHERE review_id = :review_id LIMIT 1")
VOTE = read(
    "R4",
    "SELECT voted_at FROM votes_by_review WHERE review_id = :review_id AND voter_key = :voter_key",
)
# R3: reviews whose copies may be incomplete.
PENDING = read(
    "R3",
    "SELECT period, product_id, user_id, has_pictures, written FROM pending_reviews_by_period WHERE period = :period",
)


@dataclass(frozen=True)
class ReviewPage:
    """A page of a product's reviews, and the token of the next page; "" at the end."""

    reviews: tuple[ListedReview, ...]
    next_token: str


def review_from_row(row: Row | None) -> Review | None:
    """Return a row of `ratings_by_product` as a review; None for a row that has only the product's numbers."""
    if row is None or row.review_id is None:
        return None
    return Review(
        product_id=row.product_id,
        user_id=row.user_id,
        review_id=row.review_id,
        stars=row.stars,
        title=row.title or "",
        body=row.body or "",
        name=row.name or "",
        state=row.state,
        verified=bool(row.verified),
        version=row.version,
        change_id=row.change_id,
        written_at=row.written_at,
        edited_at=row.edited_at,
        queued_at=row.queued_at,
        held_for=row.held_for or "",
        refusal=row.refusal or "",
        decided_at=row.decided_at,
        answer=row.answer or "",
        answered_at=row.answered_at,
        order_id=row.order_id,
        imported=bool(row.imported),
        pictures=_split(row.pictures),
        new_pictures=_split(row.new_pictures),
        former_pictures=_split(row.former_pictures),
        reporters=_split(row.reporters),
    )


def _split(names: str | None) -> tuple[str, ...]:
    return tuple((names or "").split())


def rating_from_row(row: Row | None) -> Rating:
    """Return the rating in a product's row; without a row, a rating without reviews."""
    if row is None or row.rating_count is None:
        return Rating()
    return Rating(
        row.rating_count, row.rating_sum, (row.one, row.two, row.three, row.four, row.five)
    )


def prefetch_rating(product_id: UUID) -> PendingResult:
    """Start reading a product's numbers, for `rating_from_row`."""
    return RATING.start(product_id=product_id)


def get_rating_at_quorum(product_id: UUID) -> Rating:
    """Return a product's numbers. Raises CassandraUnavailable."""
    return rating_from_row(RATING_NOW.one(product_id=product_id))


def prefetch_review(product_id: UUID, user_id: UUID) -> PendingResult:
    """Start reading a person's review of a product, for `review_from_row`."""
    return REVIEW.start(product_id=product_id, user_id=user_id)


def get_review(product_id: UUID, user_id: UUID) -> Review | None:
    """Return a person's review of a product in any state, or None. Raises CassandraUnavailable."""
    return review_from_row(prefetch_review(product_id, user_id).one())


def find_own_review(product_id: UUID, ids: Sequence[UUID]) -> Review | None:
    """Return a person's review of a product under any of their ids, or None. Raises CassandraUnavailable.

    A withdrawn review is returned only if the person has no other review of the product.
    """
    reading = [prefetch_review(product_id, each) for each in ids]
    found = [review for each in reading if (review := review_from_row(each.one()))]
    return min(found, key=lambda each: each.state == WITHDRAWN, default=None)


def prefetch_listed(product_id: UUID, most: int) -> PendingResult:
    """Start reading a product's newest reviews, for `listed_from_rows`."""
    return LISTED.start(product_id=product_id, stars=ALL, most=most)


def listed_from_rows(rows: Iterable[Row]) -> tuple[ListedReview, ...]:
    """Return rows of `reviews_by_product` as reviews, in the order of the rows."""
    return tuple(
        ListedReview(
            product_id=row.product_id,
            user_id=row.user_id,
            review_id=row.review_id,
            stars=row.given,
            title=row.title or "",
            body=row.body or "",
            name=row.name or "",
            verified=bool(row.verified),
            version=row.version,
            written_at=row.written_at,
            edited_at=row.edited_at,
            answer=row.answer or "",
            answered_at=row.answered_at,
            helpful=row.helpful or 0,
            pictures=_split(row.pictures),
        )
        for row in rows
    )


def get_listed(product_id: UUID, review_id: UUID) -> ListedReview | None:
    """Return a published review of a product, or None. Raises CassandraUnavailable."""
    rows = LISTED_ONE.all(product_id=product_id, stars=ALL, review_id=review_id)
    return next(iter(listed_from_rows(rows)), None)


def prefetch_review_page(product_id: UUID, stars: int, after: str) -> PendingResult:
    """Start reading a page of reviews, for `review_page_from_rows`; `stars` is ALL, HELPFUL or 1 to 5. Raises InvalidPageToken."""
    if stars == HELPFUL:
        return LISTED.start(product_id=product_id, stars=stars, most=2 * MAX_HELPFUL)
    if after:
        (review_id,) = page_key(after, _list_name(product_id, stars))
        return LISTED_AFTER.start(
            product_id=product_id, stars=stars, most=PAGE_LENGTH + 1, review_id=review_id
        )
    return LISTED.start(product_id=product_id, stars=stars, most=PAGE_LENGTH + 1)


def review_page_from_rows(
    product_id: UUID, stars: int, after: str, rows: Sequence[Row]
) -> ReviewPage:
    """Return the page of reviews in these rows. Raises InvalidPageToken."""
    listed, name = listed_from_rows(rows), _list_name(product_id, stars)
    if stars == HELPFUL:
        start = page_key(after, name)[0] if after else 0
        ranked = sorted(listed, key=lambda each: each.helpful, reverse=True)
        end = start + PAGE_LENGTH
        more = end < len(ranked)
        return ReviewPage(tuple(ranked[start:end]), page_token([end], name) if more else "")
    shown = listed[:PAGE_LENGTH]
    token = page_token([shown[-1].review_id], name) if len(listed) > PAGE_LENGTH else ""
    return ReviewPage(shown, token)


def _list_name(product_id: UUID, stars: int) -> str:
    return f"R1 {product_id.hex} {stars}"


def list_reviews_of(user_id: UUID) -> list[Review]:
    """Return a person's reviews in any state. Raises CassandraUnavailable."""
    reading = [prefetch_review(row.product_id, user_id) for row in BY_USER.all(user_id=user_id)]
    found = (review_from_row(pending.one()) for pending in reading)
    return [each for each in found if each]


def list_product_ids_of(user_id: UUID) -> list[UUID]:
    """Return the ids of the products on a person's list of reviews. Raises CassandraUnavailable."""
    return [row.product_id for row in BY_USER.all(user_id=user_id)]


def get_stop_time(email: str) -> datetime | None:
    """Return the time at which an address stopped review requests, or None. Raises CassandraUnavailable."""
    row = STOPPED.one(email=email_key(email))
    return row.stopped_at if row else None


def guest_ids(email: str) -> list[UUID]:
    """Return the ids under which a mailbox's owner writes reviews as a guest: today's id, then the ids of former keys.

    Former keys come from an old SECRET_KEY, or from the "xn--…" spelling of the address's domain.
    """
    return [
        UUID(hex=each[:32], version=4)
        for key in email_keys(email)
        for each in keyed_digests(key, "reviews.guest", "")
    ]


def voter_key(review_id: UUID, user_id: UUID) -> str:
    """Return a keyed hash of a voter, 32 characters: without the shop's key it does not reveal who voted."""
    return salted_hmac(
        "reviews.vote", f"{review_id.hex} {user_id.hex}", algorithm="sha256"
    ).hexdigest()[:32]


def count_votes(review_id: UUID) -> int:
    """Return the number of votes for a review. Raises CassandraUnavailable."""
    row = VOTES.one(review_id=review_id)
    return (row.helpful_count or 0) if row else 0


def has_voted(review_id: UUID, user_id: UUID) -> bool:
    """Return whether a user has voted for a review. Raises CassandraUnavailable."""
    found = VOTE.one(review_id=review_id, voter_key=voter_key(review_id, user_id))
    return found is not None and found.voted_at is not None


def has_received(user_id: UUID, product_id: UUID) -> bool:
    """Return whether one of a person's last delivered orders contains a product. Raises CassandraUnavailable."""
    listed = orders.list_orders_by_year(user_id, orders.list_order_years(user_id))
    newest = [each for year in sorted(listed, reverse=True) for each in listed[year]][:MAX_ORDERS]
    reading = [
        (orders.prefetch_fulfilment(each.order_id), orders.prefetch_items(each.order_id))
        for each in newest
    ]
    return any(
        row.product_id == product_id
        for order, items in reading
        if orders.is_delivered_to(user_id, order.one())
        for row in items.rows()
    )
