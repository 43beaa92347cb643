"""Policies for a conditional write whose answer is lost: the write may have applied or not.

Each call of a conditional write names its policy by `if_lost`:

    RAISE_UNKNOWN        Never send it again, and raise UnknownOutcome. The caller reads what is stored.
    SEND_AGAIN           Send it again; the second answer counts. For writes that may happen twice without harm.
    REFUSED_MEANS_DONE   Send it again; a row that refuses it counts as success, even another process's. For writes that begin
                         work unless it has begun, or release a row of this process.
    applied_if(is_ours)  Send it again; it counts as applied if `is_ours` is true of a row that refuses it. Only this write can
                         have made that row, by an id of its own.

A refusal without a row (IF EXISTS, or an empty partition) is a refusal in each policy.
"""

from collections.abc import Callable
from dataclasses import dataclass

from cassandra_db.rows import Row


@dataclass(frozen=True)
class LostAnswerPolicy:
    """Decides whether a conditional write without an answer is sent again, and which refusing row shows that it had applied."""

    is_resent: bool
    has_applied: Callable[[Row], bool]


def applied_if(is_ours: Callable[[Row], bool]) -> LostAnswerPolicy:
    """Return the policy that sends the write again. A refusing row for which `is_ours` is true shows that the write had applied."""
    return LostAnswerPolicy(is_resent=True, has_applied=is_ours)


RAISE_UNKNOWN = LostAnswerPolicy(is_resent=False, has_applied=lambda _: False)
SEND_AGAIN = LostAnswerPolicy(is_resent=True, has_applied=lambda _: False)
REFUSED_MEANS_DONE = LostAnswerPolicy(is_resent=True, has_applied=lambda _: True)
