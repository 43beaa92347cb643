"""Personal data in questions and answers."""

from datetime import datetime
from typing import Any

from moderation.rules import get_review_rules
from questions import operations, queries
from web.personal_data import DataSubject


def export_personal_data(person: DataSubject) -> dict[str, Any]:
    """Return the person's questions and answers with their states."""
    return {
        "questions_and_answers": [
            {
                "product_id": each.product_id,
                "kind": "question" if each.is_question else "answer",
                "text": each.body,
                "name": each.name,
                "state": each.state,
                "written_at": each.written_at,
                "refused_because": each.refusal,
            }
            for each in queries.list_texts_of(person.user_id)
        ]
    }


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Remove the person's name from their questions and answers. Delete the texts, too, unless the shop keeps them."""
    operations.erase_texts(person.user_id, keeps_texts=get_review_rules().keeps_erased_texts)
