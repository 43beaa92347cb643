"""What reviews, questions and answers have in common: who wrote them, and what the staff decided about them."""

from dataclasses import dataclass, fields, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID, uuid5

from django.utils.crypto import salted_hmac

from moderation.states import HELD, PUBLISHED, REFUSED, UNANSWERED

# The number of reports that reopen a text after the staff have decided about it.
REPORTS_TO_REOPEN = 3


@dataclass(frozen=True, kw_only=True)
class ModeratedText:
    """A review, a question or an answer."""

    product_id: UUID
    user_id: UUID
    body: str
    name: str
    state: str
    version: int
    change_id: UUID
    written_at: datetime
    # Why the text waits for the staff; "" if it does not.
    held_for: str = ""
    refusal: str = ""
    # When the text first waited. Its row in the queue is found by this.
    queued_at: datetime | None = None
    decided_at: datetime | None = None
    # Keys of the readers who have reported the text since the staff last decided about it.
    reporters: tuple[str, ...] = ()

    @property
    def text_id(self) -> UUID:
        """The id of the review, question or answer."""
        raise NotImplementedError

    @property
    def is_waiting(self) -> bool:
        """Whether the staff have something to decide."""
        return self.state == HELD or (self.state == PUBLISHED and bool(self.held_for))

    @property
    def is_erased(self) -> bool:
        """Whether the writer was erased."""
        return self.user_id == erased_id(self.text_id)

    def columns(self) -> dict[str, Any]:
        """Return the values of the text's row by column; tuples become words with spaces between."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: " ".join(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    def publish(self, now: datetime) -> Self:
        """Return the text as the staff publish it."""
        return replace(self, state=PUBLISHED, held_for="", refusal="", decided_at=now, reporters=())

    def refuse(self, reason: str, now: datetime) -> Self:
        """Return the text as the staff refuse it."""
        return replace(
            self, state=REFUSED, held_for="", refusal=reason, decided_at=now, reporters=()
        )

    def hold(self) -> Self:
        """Return the text back in the queue, without the staff's decision."""
        return replace(
            self, state=HELD, held_for="undone", refusal="", decided_at=None, reporters=()
        )

    def note_queued(self, now: datetime) -> Self:
        """Return the text with the time at which it first waited for the staff."""
        return replace(self, queued_at=now) if self.is_waiting and not self.queued_at else self

    def has_report(self, reader_id: UUID) -> bool:
        """Return whether a report would change nothing: the text waits for the staff, or the reader has reported it."""
        waits = self.held_for not in ("", UNANSWERED)
        return waits or self.reporter_key(reader_id) in self.reporters

    def report(self, reader_id: UUID) -> Self:
        """Return the text with one more report. It waits for the staff once enough readers have reported it."""
        reporters = (*self.reporters, self.reporter_key(reader_id))
        waits = len(reporters) >= (REPORTS_TO_REOPEN if self.decided_at else 1)
        return replace(self, reporters=reporters, held_for="reported" if waits else self.held_for)

    def reporter_key(self, reader_id: UUID) -> str:
        """Return a keyed hash of a reader, 32 characters: without the shop's key it tells nobody who reported the text."""
        value = f"{self.text_id.hex} {reader_id.hex}"
        return salted_hmac("reviews.report", value, algorithm="sha256").hexdigest()[:32]


def erased_id(text_id: UUID) -> UUID:
    """Return the user id that a text gets when its writer is erased: the same at each attempt, and nobody's."""
    return uuid5(text_id, "erased")
