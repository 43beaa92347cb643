"""Erasing an account: the user requests it on a page, and the worker does it two minutes later.

    a row in `erasures` > the account may not be used any more > its sessions end                  in the request
    all apps > a last mail > the e-mail address is free > the user's row  by the worker, who begins again after a crash

The user's row goes last: a run that finishes an interrupted one must read it. After two minutes no request of the person is
still running, which could write data that the erasure would miss.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from accounts import audit_log, queries
from accounts.errors import NoSuchUser
from accounts.models import User
from accounts.operations.email_claims import EMAIL_RELEASED
from accounts.operations.staff import set_role
from accounts.second_factor import delete_second_factor
from accounts.sessions import end_sessions
from cassandra_db import QUORUM, REFUSED_MEANS_DONE, SEND_AGAIN, conditional_write, scan, write
from jobs.due_rows import DueRows, Sweep
from jobs.rows import guard_row
from mail.addresses import email_key
from mail.operations import queue_mail
from web import personal_data
from web.erasure_log import hash_user_id, list_logged_erasures, log_erasure
from web.personal_data import FAREWELL_EVENT, DataSubject, ErasureRefused

INSERT_ERASURE = write(
    "erasure", "INSERT INTO erasures (minute, user_id) VALUES (:minute, :user_id)"
)
DELETE_ERASURE = write(
    "erasure", "DELETE FROM erasures WHERE minute = :minute AND user_id = :user_id"
)
# After this time no request of the user is still running, and the worker has finished orders that a crash cut off
# (orders.jobs): the user's lists lead to all their orders.
WAIT = timedelta(minutes=4)
ERASURES = DueRows(
    job="erasures",
    label="erasure of user",
    select=queries.ERASURES,
    insert=INSERT_ERASURE,
    delete=DELETE_ERASURE,
    wait=WAIT,
    max_write_delay=WAIT,
)
# Staff must give up the role first, so that the shop never loses its last admin.
ERASING = conditional_write(
    "Q6",
    "UPDATE users SET active = false, erasing_at = :now WHERE user_id = :user_id IF role = '' AND demo = false",
)
# The list of staff keeps former staff.
OFF_STAFF = conditional_write(
    "staff", "DELETE FROM staff WHERE shop = :shop AND user_id = :user_id IF EXISTS"
)
EVERYBODY = scan(
    "erasure",
    "SELECT user_id, role FROM users WHERE token(user_id) > :start AND token(user_id) <= :end",
    consistency=QUORUM,
)
USER_REMOVED = conditional_write("Q6", "DELETE FROM users WHERE user_id = :user_id IF EXISTS")

# The time after which a refused erasure is tried again.
RETRY_AFTER = timedelta(hours=1)
log = logging.getLogger(__name__)


def person_from_user(user: User) -> DataSubject:
    """Return a user as the DataSubject for which each app exports or erases personal data."""
    return DataSubject(user.user_id, user.email, user.name or "", user.role or "", bool(user.demo))


def request_erasure(user_id: UUID, now: datetime) -> None:
    """Close an account at once, and request that the worker erases it.

    `now` is in UTC. Raises NoSuchUser for a missing account, or one of the staff or the demo shop. Also raises
    CassandraUnavailable.
    """
    ERASURES.note(now, user_id=user_id)
    if not ERASING.apply(if_lost=SEND_AGAIN, user_id=user_id, now=now):
        raise NoSuchUser
    log_erasure(user_id, now)
    end_sessions(user_id)
    audit_log.add_entry("erased", now, by=user_id)


def erase_account(user_id: UUID, now: datetime) -> bool:
    """Erase all data about a user who has requested the erasure. A second call finishes the first one.

    Return whether this call has erased the user. `now` is in UTC. Raises ErasureRefused, CassandraUnavailable.
    """
    user = queries.get_user(user_id)
    if user is None or user.erasing_at is None:
        return False  # erased already, or the request died before the account was closed
    person = person_from_user(user)
    log_erasure(user_id, now)  # the request may have died before
    end_sessions(user_id)
    personal_data.erase_personal_data(person, now)
    queue_mail(user_id, FAREWELL_EVENT, user.email, "erased", {"name": person.name}, now)
    # The erasure includes an address that the account was moving to, or has just left.
    for email in filter(None, (user.email_next, user.email_before, user.email)):
        EMAIL_RELEASED.apply(if_lost=REFUSED_MEANS_DONE, email=email_key(email), user_id=user_id)
    USER_REMOVED.apply(if_lost=SEND_AGAIN, user_id=user_id)
    log.info("user %s is erased", user_id)
    return True


def repeat_erasures(now: datetime) -> tuple[int, int]:
    """Erase the people again whose erasure was logged, and whom a restore has brought back. One who fails holds up no other.

    Return how many are erased, and how many are locked out and erased later, by the worker. Raises CassandraUnavailable and the
    errors of the log's storage; outside of a worker's run LastAdmin, too.
    """
    logged = list_logged_erasures()
    done = later = 0
    # Without a log there is nobody to look for.
    for row in EVERYBODY.iterate_table() if logged else ():
        if hash_user_id(row.user_id) in logged:
            with guard_row(f"erasure of user {row.user_id}"):
                if row.role:
                    set_role(row.user_id, "", now)  # they had given it up before they were erased
                request_erasure(row.user_id, now)
                try:
                    done += erase_account(row.user_id, now)
                except ErasureRefused as refused:
                    log.warning("user %s is erased later: %s", row.user_id, refused)
                    later += 1
    return done, later


def remove_access(user_id: UUID) -> None:
    """End a user's sessions, delete the second factor, and remove the user from the list of staff. Raises CassandraUnavailable."""
    delete_second_factor(user_id)  # ends the sessions, too
    OFF_STAFF.apply(if_lost=REFUSED_MEANS_DONE, shop=queries.SHOP, user_id=user_id)


def run_erasures(sweep: Sweep) -> int:
    """Erase the users who have requested their erasure; return their number. Refused erasures are tried again in an hour."""
    done = 0
    for rows in sweep.groups("user_id"):
        user_id = rows[0].user_id
        with sweep.handle(rows, user_id):
            try:
                done += erase_account(user_id, sweep.now)
            except ErasureRefused as error:
                log.error("user %s is erased later: %s", user_id, error)
                sweep.postpone(rows, RETRY_AFTER)
    return done
