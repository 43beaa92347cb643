"""What a review and a product's rating are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN

STATES = (PUBLISHED, HELD, REFUSED, WITHDRAWN)
STARS = (5, 4, 3, 2, 1)


@dataclass(frozen=True)
class Review:
    """One person's review of a product."""

    product_id: UUID
    user_id: UUID
    review_id: UUID
    stars: int
    title: str
    body: str
    name: str
    state: str
    verified: bool
    version: int
    change_id: UUID
    written_at: datetime
    edited_at: datetime | None = None
    queued_at: datetime | None = None
    held_for: str = ""
    refusal: str = ""
    decided_at: datetime | None = None
    answer: str = ""
    answered_at: datetime | None = None
    order_id: UUID | None = None
    # Those that everybody sees, those that the staff have not seen yet, and those whose files are to be deleted.
    pictures: tuple[str, ...] = ()
    new_pictures: tuple[str, ...] = ()
    former_pictures: tuple[str, ...] = ()
    # Keys of those who have reported it since the staff last decided about it (moderation.queries.reporter_key).
    reporters: tuple[str, ...] = ()

    @property
    def is_counted(self) -> bool:
        """Whether it is in the product's numbers: what everybody may read."""
        return self.state == PUBLISHED

    @property
    def own_pictures(self) -> tuple[str, ...]:
        """All pictures that belong to it, as its writer sees them."""
        return (*self.pictures, *self.new_pictures)

    def without_pictures(self, gone: Collection[str]) -> Review:
        """Return it without some of its pictures, whose files are then to be deleted."""
        return replace(
            self,
            pictures=tuple(each for each in self.pictures if each not in gone),
            new_pictures=tuple(each for each in self.new_pictures if each not in gone),
            former_pictures=(
                *self.former_pictures,
                *(each for each in self.own_pictures if each in gone),
            ),
        )

    @property
    def is_waiting(self) -> bool:
        """Whether the staff have something to decide."""
        return self.state == HELD or (self.state == PUBLISHED and bool(self.held_for))


@dataclass(frozen=True)
class ListedReview:
    """A published review as everybody reads it."""

    product_id: UUID
    user_id: UUID
    review_id: UUID
    stars: int
    title: str
    body: str
    name: str
    verified: bool
    version: int
    written_at: datetime
    edited_at: datetime | None
    answer: str
    answered_at: datetime | None
    helpful: int
    pictures: tuple[str, ...] = ()


@dataclass(frozen=True)
class StarBar:
    """How many published reviews give so many stars, and which share of all that is, in percent."""

    stars: int
    count: int
    percent: int


@dataclass(frozen=True)
class Rating:
    """A product's numbers: how many published reviews, the sum of their stars, and how many give one to five."""

    count: int = 0
    total: int = 0
    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    @property
    def average(self) -> float | None:
        """The mean of the stars with one decimal, None without a review."""
        return round(self.total / self.count, 1) if self.count else None

    @property
    def shown(self) -> tuple[float | None, int]:
        """What cards say: the average and the number of reviews, above a hundred in two digits, so that cards change seldom."""
        count = self.count
        unit = 10 ** max(0, len(str(count)) - 2)
        return self.average, count - count % unit

    @property
    def bars(self) -> tuple[StarBar, ...]:
        """The distribution, five stars first."""
        return tuple(
            StarBar(stars, self.counts[stars - 1], round(100 * self.counts[stars - 1] / self.count))
            if self.count
            else StarBar(stars, 0, 0)
            for stars in STARS
        )


MAX_TITLE, MAX_BODY, MIN_BODY = 100, 4000, 10
