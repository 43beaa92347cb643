"""Personal data in reviews."""

from datetime import datetime
from typing import Any
from uuid import UUID

from accounts.queries import get_user
from catalogue.templatetags.pictures import full_picture_url, public_url
from moderation.rules import get_review_rules
from reviews import operations, queries
from reviews.requests import list_member_ids
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's reviews with their states."""
    return {
        "asks_for_no_review_mails_since": queries.get_stop_time(person.email)
        if _has_proved_address(person)
        else None,
        "reviews": [
            {
                "product_id": each.product_id,
                "stars": each.stars,
                "title": each.title,
                "text": each.body,
                "name": each.name,
                "state": each.state,
                "verified": each.verified,
                "written_at": each.written_at,
                "edited_at": each.edited_at,
                "refused_because": each.refusal,
                "answer": each.answer,
                "pictures": [public_url(full_picture_url(name)) for name in each.own_pictures],
            }
            for writer_id in _writer_ids(person)
            for each in queries.list_reviews_of(writer_id)
        ],
    }


def _has_proved_address(person: DataSubject) -> bool:
    member = get_user(person.user_id)
    return member is not None and member.verified_at is not None


def _writer_ids(person: DataSubject) -> list[UUID]:
    member = get_user(person.user_id)
    return list_member_ids(member) if member else [person.user_id]


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Remove the person's name from their reviews. Delete the texts, too, unless the shop keeps them."""
    keeps_texts = get_review_rules().keeps_erased_texts
    for writer_id in _writer_ids(person):
        operations.erase_reviews(writer_id, keeps_texts=keeps_texts)
    # Otherwise another person may have stopped the mails to this address.
    if _has_proved_address(person):
        operations.allow_requests(person.email)
