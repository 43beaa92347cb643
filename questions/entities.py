"""Questions about products, and their answers."""

from dataclasses import dataclass
from uuid import UUID

from cassandra.util import min_uuid_from_time

from moderation.states import HELD, PUBLISHED
from moderation.texts import ModeratedText

# Answers in these states count towards queries.MAX_ANSWERS.
PLACED = (PUBLISHED, HELD)
# The answer id of the question itself: it sorts before all answers.
QUESTION: UUID = min_uuid_from_time(0)


@dataclass(frozen=True, kw_only=True)
class Text(ModeratedText):
    """A question about a product, or an answer to it by the shop or a buyer."""

    question_id: UUID
    answer_id: UUID
    is_shops: bool

    @property
    def is_question(self) -> bool:
        return self.answer_id == QUESTION

    @property
    def text_id(self) -> UUID:
        """The id of the question or the answer."""
        return self.question_id if self.is_question else self.answer_id

    @property
    def takes_place(self) -> bool:
        """Whether the text is an answer that counts towards MAX_ANSWERS of its question."""
        return not self.is_question and self.state in PLACED


@dataclass(frozen=True)
class Question:
    """A question with its answers, oldest first."""

    question: Text
    answers: tuple[Text, ...]

    @property
    def texts(self) -> tuple[Text, ...]:
        """The question and its answers."""
        return (self.question, *self.answers)
