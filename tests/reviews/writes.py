"""Reviews as their writers send them."""

from uuid import UUID, uuid4

from cassandra_db import current_time
from reviews import operations
from reviews.entities import Review, ReviewInput


def write(
    product_id: UUID,
    stars: int = 5,
    user_id: UUID | None = None,
    *,
    seen: int = 0,
    held_for: str = "",
    body: str = "It does what it should.",
    change_id: UUID | None = None,
) -> Review:
    return operations.write_review(
        product_id,
        user_id or uuid4(),
        ReviewInput(
            stars=stars, title="Fine", body=body, name="Ada L.", verified=False, held_for=held_for
        ),
        seen=seen,
        change_id=change_id or uuid4(),
        now=current_time(),
    )
