"""What becomes of a conditional write whose answer is lost: it may have applied or not.

Every conditional write says at the call what to do then, by `if_lost`:

    RAISE_UNKNOWN        It is never sent again, and UnknownOutcome is raised: the caller looks at what is there.
    SEND_AGAIN           It is sent again, and the second answer counts. For what does no harm when it happens twice, where a
                         refusal does not show whose write came first.
    REFUSED_MEANS_DONE   It is sent again, and a row that refuses it counts as success: no matter who wrote that row, what the
                         write should bring about is there. For "begin it, if it has not begun" and "give up what is mine".
    applied_if(is_ours)  It is sent again, and counts as applied if `is_ours` is true of a row that refuses it: one that only
                         this very write can have made, by an id of its own.

A refusal without a row (IF EXISTS, or an empty partition) is a refusal in each of them.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cassandra_db.rows import Row


@dataclass(frozen=True)
class LostAnswerPolicy:
    """Whether a conditional write without an answer is sent again, and which row shows then that it had applied."""

    is_resent: bool
    has_applied: Callable[[Row], bool]


def applied_if(is_ours: Callable[[Row], bool]) -> LostAnswerPolicy:
    """Send the write again; if it is refused by a row of which `is_ours` is true, it had applied the first time."""
    return LostAnswerPolicy(is_resent=True, has_applied=is_ours)


RAISE_UNKNOWN = LostAnswerPolicy(is_resent=False, has_applied=lambda _: False)
SEND_AGAIN = LostAnswerPolicy(is_resent=True, has_applied=lambda _: False)
REFUSED_MEANS_DONE = LostAnswerPolicy(is_resent=True, has_applied=lambda _: True)
