"""Writes the data that is derived from reviews: the copies for pages, the staff's queue, the mails, the ratings on cards."""

from typing import Any
from uuid import UUID, uuid5

from django.conf import settings
from django.urls import reverse

from accounts.queries import get_user
from cassandra_db import current_microseconds, current_time, wait_for_all, write
from catalogue.operations import set_rating
from catalogue.queries import get_product_at_quorum
from mail.operations import MailOptions, queue_mail
from moderation.operations import update_queue
from moderation.queries import NEWS_FOR
from moderation.states import REFUSED
from notifications.kinds import wants_mail
from notifications.links import unsubscribe_url
from notifications.operations import announce
from orders.queries import get_order
from reviews import queries
from reviews.entities import Review
from reviews.links import guest_url
from reviews.notifications import REVIEW_REFUSED
from reviews.queries import ALL, HELPFUL, MAX_HELPFUL

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


def refresh_review(product_id: UUID, user_id: UUID) -> None:
    """Write all copies of a review, and delete outdated ones. A second call changes nothing.

    It also queues the mail about a refusal, but never twice, and none about an imported review. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    review = queries.get_review(product_id, user_id)
    if review is None:
        # The writer was erased: the review now has another user id, under which it has its own copies.
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
    update_queue(review, at, title=review.title, stars=review.stars)
    if review.imported:
        return  # its writer expects nothing from this shop
    if review.state == REFUSED:
        _mail_refusal(review)
    if review.decided_at and current_time() - review.decided_at < NEWS_FOR and not review.order_id:
        announce("reviews", product_id, str(user_id))


def _start_by_user(review: Review, at: int) -> Any:
    if review.is_erased:
        return DELETE_BY_USER.start(at=at, user_id=review.user_id, product_id=review.product_id)
    return INSERT_BY_USER.start(
        at=at,
        user_id=review.user_id,
        product_id=review.product_id,
        review_id=review.review_id,
        version=review.version,
        state=review.state,
    )


def _mail_refusal(review: Review) -> None:
    product = get_product_at_quorum(review.product_id)
    if product is None or review.decided_at is None:
        return
    # Later the claim that prevents a second mail has expired: a repair by the consistency check must not mail again.
    if current_time() - review.decided_at > NEWS_FOR:
        return
    to, url = _find_writer(review, product.slug)
    end_url = "" if review.order_id else unsubscribe_url(review.user_id, REVIEW_REFUSED)
    if not to:
        return
    queue_mail(
        uuid5(review.review_id, review.user_id.hex),
        f"refused:{review.version}",
        to,
        "review_refused",
        {"name": product.name, "reason": review.refusal, "url": url, "end_url": end_url},
        review.decided_at,
        MailOptions(unsubscribe_url=end_url),
    )


def _find_writer(review: Review, slug: str) -> tuple[str, str]:
    """Return the writer's e-mail address ("" for one who is erased or wants no mail) and the URL of the review's form."""
    if review.order_id:
        order = get_order(review.order_id)
        return (order.email if order and not order.is_erased else ""), guest_url(
            review.order_id, slug
        )
    writer = get_user(review.user_id)
    wants = writer and wants_mail(REVIEW_REFUSED, writer.notification_choices)
    return (writer.email if writer and wants else ""), settings.PUBLIC_URL + reverse(
        "reviews:write", args=(slug,)
    )


def refresh_rating(product_id: UUID) -> bool:
    """Write a product's rating to its cards if it has changed; return whether the rating has changed. Raises CassandraUnavailable."""
    at = current_microseconds()
    rating, product = queries.get_rating_at_quorum(product_id), get_product_at_quorum(product_id)
    if product is None or (product.rating, product.rating_count) == rating.shown:
        return False
    set_rating(product_id, *rating.shown, at)
    return True


def prune_helpful(product_id: UUID) -> None:
    """Shorten the list of a product's most helpful reviews to a hundred. Raises CassandraUnavailable."""
    at = current_microseconds()
    rows = queries.COPIES.all(product_id=product_id, stars=HELPFUL)
    ranked = sorted(rows, key=lambda row: row.helpful or 0, reverse=True)
    wait_for_all(
        [
            DELETE_COPY.start(at=at, product_id=product_id, stars=HELPFUL, review_id=row.review_id)
            for row in ranked[MAX_HELPFUL:]
        ]
    )
