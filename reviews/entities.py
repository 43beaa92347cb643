"""Reviews, and the ratings of products."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Self
from uuid import UUID

from moderation.states import HELD, PUBLISHED, REFUSED, WITHDRAWN
from moderation.texts import ModeratedText

STATES = (PUBLISHED, HELD, REFUSED, WITHDRAWN)
STARS = (5, 4, 3, 2, 1)


@dataclass(frozen=True, kw_only=True)
class Review(ModeratedText):
    """One person's review of a product."""

    review_id: UUID
    stars: int
    title: str
    verified: bool
    edited_at: datetime | None = None
    answer: str = ""
    answered_at: datetime | None = None
    # For a guest's review: the order whose mail led to the form.
    order_id: UUID | None = None
    # Whether it comes from a file of a former shop's reviews, and its writer has not changed it here.
    imported: bool = False
    # Pictures that everybody sees; pictures that the staff have not seen yet; pictures whose files must be deleted.
    pictures: tuple[str, ...] = ()
    new_pictures: tuple[str, ...] = ()
    former_pictures: tuple[str, ...] = ()

    @property
    def text_id(self) -> UUID:
        """The review's id."""
        return self.review_id

    @property
    def is_counted(self) -> bool:
        """Whether the review is published, so that the product's numbers count it."""
        return self.state == PUBLISHED

    @property
    def own_pictures(self) -> tuple[str, ...]:
        """The pictures that the review's writer sees."""
        return (*self.pictures, *self.new_pictures)

    def without_pictures(self, gone: Collection[str]) -> Self:
        """Return the review without the pictures `gone`. The worker must then delete the files of these pictures."""
        return replace(
            self,
            pictures=tuple(each for each in self.pictures if each not in gone),
            new_pictures=tuple(each for each in self.new_pictures if each not in gone),
            former_pictures=(
                *self.former_pictures,
                *(each for each in self.own_pictures if each in gone),
            ),
        )


@dataclass(frozen=True, kw_only=True)
class ReviewInput:
    """A review as its writer sends it, with the shop's findings about it."""

    stars: int
    title: str
    body: str
    name: str
    # Whether the writer has received the product.
    verified: bool
    # The reason why the review waits for the staff; "" publishes it at once.
    held_for: str
    # The order whose mail led a guest to the form.
    order_id: UUID | None = None
    imported: bool = False


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
    """The number of published reviews with a number of stars, and their share of all published reviews in percent."""

    stars: int
    count: int
    percent: int


@dataclass(frozen=True)
class Rating:
    """A product's numbers: the count of published reviews, the sum of their stars, and the counts for one to five stars."""

    count: int = 0
    total: int = 0
    counts: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)

    @property
    def average(self) -> float | None:
        """The mean of the stars with one decimal place; None if there is no review."""
        return round(self.total / self.count, 1) if self.count else None

    @property
    def shown(self) -> tuple[float | None, int]:
        """The average and the number of reviews, for cards. The number is rounded down to two digits, so that cards change less often."""
        count = self.count
        unit = 10 ** max(0, len(str(count)) - 2)
        return self.average, count - count % unit

    @property
    def bars(self) -> tuple[StarBar, ...]:
        """The bars for each number of stars, five stars first."""
        return tuple(
            StarBar(stars, self.counts[stars - 1], round(100 * self.counts[stars - 1] / self.count))
            if self.count
            else StarBar(stars, 0, 0)
            for stars in STARS
        )


MAX_TITLE, MAX_BODY, MIN_BODY = 100, 4000, 10
