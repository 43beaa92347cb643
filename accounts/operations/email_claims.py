"""Claims on e-mail addresses: `users_by_email`.

A claim counts while its user's own row names the same address. Another user can take over a claim that a crash has left.
First the old holder's intent to move to the address is withdrawn, so that the move cannot happen. Then the claim gets its
new user, unless the old holder has renewed it meanwhile.
"""

from datetime import datetime, timedelta
from uuid import UUID

from accounts import queries
from accounts.models import User
from cassandra_db import REFUSED_MEANS_DONE, Row, applied_if, conditional_write

EMAIL_CLAIMED = conditional_write(
    "Q7",
    "INSERT INTO users_by_email (email, user_id, claimed_at) VALUES (:email, :user_id, :now) IF NOT EXISTS",
)
EMAIL_RECLAIMED = conditional_write(
    "Q7",
    """UPDATE users_by_email SET user_id = :user_id, claimed_at = :now WHERE email = :email
       IF user_id = :gone AND claimed_at = :seen""",
)
EMAIL_RELEASED = conditional_write(
    "Q7", "DELETE FROM users_by_email WHERE email = :email IF user_id = :user_id"
)
CANCEL_EMAIL_CHANGE = conditional_write(
    "Q6", "UPDATE users SET email_next = null WHERE user_id = :user_id IF email_next = :email"
)
# How long after its claim a change of address counts as still under way.
UNDER_WAY = timedelta(minutes=1)


def claim_email(key: str, user_id: UUID, now: datetime) -> bool:
    """Claim an e-mail address for a user; return whether the user has it. `key` is its `email_key`. Raises CassandraUnavailable."""
    outcome = EMAIL_CLAIMED.apply(
        if_lost=applied_if(lambda row: bool(row.user_id == user_id)),
        email=key,
        user_id=user_id,
        now=now,
    )
    if outcome:
        return True
    claim = outcome.current
    if claim is None:
        return False
    holder = queries.get_user(claim.user_id)
    if claim.user_id == user_id and holder and queries.email_key(holder.email) == key:
        return True
    if claim.user_id != user_id and not _release_abandoned_claim(key, claim, holder, now):
        return False
    # Renew the user's own claim from an earlier call: another user may be about to take it over.
    return bool(
        EMAIL_RECLAIMED.apply(
            if_lost=applied_if(lambda row: bool(row.user_id == user_id)),
            email=key,
            user_id=user_id,
            now=now,
            gone=claim.user_id,
            seen=claim.claimed_at,
        )
    )


def _release_abandoned_claim(key: str, claim: Row, holder: User | None, now: datetime) -> bool:
    """Return whether no account has the claimed address. If so, the claim's holder can no longer move to the address either."""
    # Users are written before their claims: a claim without a user belongs to an erased account.
    if holder is None:
        return True
    if queries.email_key(holder.email) == key or claim.claimed_at > now - UNDER_WAY:
        return False
    if holder.email_next:
        CANCEL_EMAIL_CHANGE.apply(
            if_lost=REFUSED_MEANS_DONE, user_id=holder.user_id, email=holder.email_next
        )
    holder = queries.get_user(claim.user_id)
    return holder is None or (queries.email_key(holder.email) != key and not holder.email_next)
