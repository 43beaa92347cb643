"""I8: one user for an e-mail address."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from accounts import queries
from accounts.operations.email_claims import claim_email
from cassandra_db import read, scan
from consistency.findings import Check, Scope, Violation

USERS = scan(
    "I8", "SELECT user_id FROM users WHERE token(user_id) > :start AND token(user_id) <= :end"
)
CLAIM = read("I8", "SELECT user_id FROM users_by_email WHERE email = :email")


def _iterate_user_ids(scope: Scope | None) -> Iterator[UUID]:
    if scope is not None:
        yield from scope.users
    else:
        yield from (row.user_id for row in USERS.iterate_table())


def _check_user(user_id: UUID) -> Iterator[Violation]:
    """An address logs in the user whom its claim names: so of two users with one address one is found here."""
    user = queries.get_user(user_id)
    if user is None or not user.email:
        return
    key = queries.email_key(user.email)
    what = f"user {user_id}"
    claim = CLAIM.one(email=key)
    if claim is None:
        # Claiming is what a registration does; of two without a claim one gets it, and the other is the violation.
        yield Violation(
            "I8",
            what,
            "nobody has claimed the address",
            fix=lambda now: claim_email(key, user_id, now),
        )
    elif claim.user_id != user_id:
        yield Violation("I8", what, f"the address is that of user {claim.user_id}")


CHECKS = (Check("users", ("I8",), _iterate_user_ids, _check_user),)
