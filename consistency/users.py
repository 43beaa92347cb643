"""I8: each e-mail address has one user. I32: staff find a customer by each word of the customer's name, and by no other words."""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from accounts import queries
from accounts.operations.email_claims import claim_email
from accounts.operations.search_terms import (
    HOUR,
    NAMES_UNDER_WAY,
    TERMS,
    delete_search_terms,
    save_search_terms,
)
from accounts.search_terms import HEAD, list_name_terms
from cassandra_db import Row, current_time, read, scan
from consistency.findings import Check, Scope, Violation, call, column_subjects, row_subjects

USERS = scan(
    "I8", "SELECT user_id FROM users WHERE token(user_id) > :start AND token(user_id) <= :end"
)
CLAIM = read("I8", "SELECT user_id FROM users_by_email WHERE email = :email")


_list_users = column_subjects(USERS, "user_id", "users")


def _check_user(user_id: UUID) -> Iterator[Violation]:
    """Check that the claim of a user's e-mail address names this user, so that no two users have the same address."""
    user = queries.get_user(user_id)
    if user is None or not user.email:
        return
    key = queries.email_key(user.email)
    what = f"user {user_id}"
    claim = CLAIM.one(email=key)
    if claim is None:
        # If two users have the address, the fix gives the claim to one user. The other one remains a violation.
        fix = partial(claim_email, key, user_id)
        yield Violation("I8", what, "nobody has claimed the address", fix=fix)
    elif claim.user_id != user_id:
        yield Violation("I8", what, f"the address is that of user {claim.user_id}")


SEARCH_ROW = read(
    "I32",
    """SELECT name, since FROM users_by_search_term
       WHERE head = :head AND term = :term AND user_id = :user_id""",
)
SEARCH_ROWS = scan(
    "I32",
    """SELECT term, user_id, writetime(name) AS written FROM users_by_search_term
       WHERE token(head) > :start AND token(head) <= :end""",
)
LISTED = scan(
    "I32",
    """SELECT DISTINCT user_id FROM search_terms_by_user
       WHERE token(user_id) > :start AND token(user_id) <= :end""",
)


def _iterate_named(scope: Scope | None) -> Iterator[UUID]:
    yield from _list_users(scope)
    if scope is None:
        yield from (row.user_id for row in LISTED.iterate_table())


def _check_search(user_id: UUID) -> Iterator[Violation]:
    user = queries.get_user(user_id)
    name = user.name or "" if user and not user.erasing_at else ""
    wanted, since = set(list_name_terms(name)), user.created_at if user else None
    stored = {row.term for row in TERMS.all(user_id=user_id)}
    reading = [
        SEARCH_ROW.start(head=term[:HEAD], term=term, user_id=user_id) for term in wanted & stored
    ]
    found = [pending.one() for pending in reading]
    if wanted == stored and all(row and (row.name, row.since) == (name, since) for row in found):
        return
    now = current_time()
    if any(row.user_id == user_id for row in NAMES_UNDER_WAY.list_between(now - HOUR, now)):
        return  # the worker is about to correct the search terms
    fault = "is found by other words than those of their name"
    yield Violation("I32", f"user {user_id}", fault, fix=call(save_search_terms, user_id))


def _check_search_row(row: Row) -> Iterator[Violation]:
    """Check that the term of a search row is in its user's own list of terms."""
    if row.term in {each.term for each in TERMS.all(user_id=row.user_id)}:
        return
    if SEARCH_ROW.one(head=row.term[:HEAD], term=row.term, user_id=row.user_id) is None:
        return
    fault = "is found by a word that is not their own"
    fix = call(delete_search_terms, row.user_id, [row.term], row.written)
    yield Violation("I32", f"user {row.user_id}", fault, fix=fix, written=row.written)


CHECKS = (
    Check("users", ("I8",), _list_users, _check_user),
    Check("customers’ search terms", ("I32",), _iterate_named, _check_search),
    Check("the search for customers", ("I32",), row_subjects(SEARCH_ROWS), _check_search_row),
)
