"""What members are told about their reviews."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from cassandra_db import Row
from catalogue.entities import Product
from moderation.states import PUBLISHED, REFUSED, WITHDRAWN
from notifications.entities import PAGE, TEXTS, Kind, Line, News, Notification
from notifications.product_lines import describe_products
from reviews import queries

REVIEW_PUBLISHED, REVIEW_REFUSED = "review_published", "review_refused"
_KINDS = {PUBLISHED: REVIEW_PUBLISHED, REFUSED: REVIEW_REFUSED}


def prepare_news(product_id: UUID, detail: str, noted_at: datetime) -> list[News]:
    """Return the staff's decision about a member's review. Raises CassandraUnavailable."""
    review = queries.get_review(product_id, UUID(detail))
    kind = _KINDS.get(review.state) if review else None
    if review is None or kind is None or review.decided_at is None or review.order_id:
        return []
    return [News(kind, review.user_id, review.decided_at, {"product": product_id.hex})]


def describe(notes: Sequence[Notification]) -> Callable[[], Mapping[UUID, Line]]:
    """Start reading the products and the reviews. A review that was withdrawn is gone."""

    def write(note: Notification, product: Product, row: Row | None) -> Line | None:
        if row is None or row.state == WITHDRAWN:
            return None
        is_published = note.kind == REVIEW_PUBLISHED
        text = (
            gettext("Your review of %(name)s is published")
            if is_published
            else gettext("We haven’t published your review of %(name)s")
        )
        return Line(text % {"name": product.name}, reverse("reviews:write", args=[product.slug]))

    return describe_products(
        notes, write, lambda note: queries.prefetch_review(UUID(note.ids["product"]), note.user_id)
    )


_GONE = _("News about a review that is gone")
KINDS = [
    Kind(REVIEW_PUBLISHED, TEXTS, _("Review published"), _GONE, describe, PAGE),
    Kind(REVIEW_REFUSED, TEXTS, _("Review not published"), _GONE, describe, has_own_mail=True),
]
