"""What a question about a product and its answers are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cassandra.util import min_uuid_from_time

PUBLISHED, HELD, REFUSED, WITHDRAWN = "published", "held", "refused", "withdrawn"
# The answers in these states take the places that a question has (queries.MAX_ANSWERS).
PLACED = (PUBLISHED, HELD)
# In the place of an answer's id: before all of them stands the question itself.
QUESTION: UUID = min_uuid_from_time(0)
# Why a question that everybody reads waits for the staff.
UNANSWERED = "unanswered"


@dataclass(frozen=True)
class Text:
    """A question about a product, or an answer to it: by the shop, or by somebody whom the product has reached."""

    product_id: UUID
    question_id: UUID
    answer_id: UUID
    user_id: UUID
    body: str
    name: str
    is_shops: bool
    state: str
    version: int
    change_id: UUID
    written_at: datetime
    held_for: str = ""
    refusal: str = ""
    queued_at: datetime | None = None
    decided_at: datetime | None = None
    # Keys of those who have reported it since the staff last decided about it (moderation.queries.reporter_key).
    reporters: tuple[str, ...] = ()

    @property
    def is_question(self) -> bool:
        return self.answer_id == QUESTION

    @property
    def text_id(self) -> UUID:
        """Its own id, of all questions and answers."""
        return self.question_id if self.is_question else self.answer_id

    @property
    def is_waiting(self) -> bool:
        """Whether the staff have something to do."""
        return self.state == HELD or (self.state == PUBLISHED and bool(self.held_for))

    @property
    def takes_place(self) -> bool:
        """Whether it is one of the answers that a question has room for."""
        return not self.is_question and self.state in PLACED


@dataclass(frozen=True)
class Question:
    """A question with its answers, the oldest first."""

    question: Text
    answers: tuple[Text, ...]

    @property
    def texts(self) -> tuple[Text, ...]:
        """The question and its answers."""
        return (self.question, *self.answers)
