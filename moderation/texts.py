"""The common base of reviews, questions and answers: the writer, and the decision of the staff."""

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
    # The reason why the text waits for the staff; "" if it does not wait.
    held_for: str = ""
    refusal: str = ""
    # The time at which the text first waited, by which its row in the queue is found.
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
        """Whether the text waits for a decision of the staff."""
        return self.state == HELD or (self.state == PUBLISHED and bool(self.held_for))

    @property
    def is_erased(self) -> bool:
        """Whether the writer was erased."""
        return self.user_id == erased_id(self.text_id)

    def columns(self) -> dict[str, Any]:
        """Return the values of the text's row, keyed by column. A tuple becomes a text with spaces between its items."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: " ".join(value) if isinstance(value, tuple) else value
            for name, value in values.items()
        }

    def publish(self, now: datetime) -> Self:
        """Return the text in the state after the staff have published it."""
        return replace(self, state=PUBLISHED, held_for="", refusal="", decided_at=now, reporters=())

    def refuse(self, reason: str, now: datetime) -> Self:
        """Return the text in the state after the staff have refused it for `reason`."""
        return replace(
            self, state=REFUSED, held_for="", refusal=reason, decided_at=now, reporters=()
        )

    def hold(self) -> Self:
        """Return the text in the state after the staff have undone their decision: it waits in the queue."""
        return replace(
            self, state=HELD, held_for="undone", refusal="", decided_at=None, reporters=()
        )

    def note_queued(self, now: datetime) -> Self:
        """Return the text. If it waits for the staff for the first time, `queued_at` becomes `now`."""
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
        """Return a keyed hash of a reader, 32 characters: without the shop's key it does not reveal who reported the text."""
        value = f"{self.text_id.hex} {reader_id.hex}"
        return salted_hmac("reviews.report", value, algorithm="sha256").hexdigest()[:32]


def erased_id(text_id: UUID) -> UUID:
    """Return the user id that replaces the writer's id in a text when the writer is erased. No account has this id.

    The id is made from `text_id`, so it is the same at each attempt.
    """
    return uuid5(text_id, "erased")
