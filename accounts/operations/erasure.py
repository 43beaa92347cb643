"""Erasing an account: asked for in a request, done by the worker two minutes later.

    a row in `erasures` > the account may not be used any more > its sessions end                  in the request
    all apps > a last mail > the e-mail address is free > the user's row  by the worker, who begins again after a crash

The user's row goes last, because a run that finishes a broken one reads there who it is about. Two minutes, so that no request
of the person is under way any more, which could write something that would not be erased.
"""

import logging
from datetime import datetime, timedelta
from uuid import UUID

from accounts import audit_log, queries
from accounts.errors import NoSuchUser
from accounts.models import User
from accounts.operations.email_claims import EMAIL_RELEASED
from accounts.second_factor import delete_second_factor
from accounts.sessions import end_sessions
from cassandra_db import REFUSED_MEANS_DONE, SEND_AGAIN, conditional_write, write
from jobs.due_rows import DueRows, Sweep
from mail.addresses import email_key
from mail.operations import queue_mail
from web import personal_data
from web.personal_data import FAREWELL_EVENT, DataSubject, ErasureRefused

INSERT_ERASURE = write(
    "erasure", "INSERT INTO erasures (minute, user_id) VALUES (:minute, :user_id)"
)
DELETE_ERASURE = write(
    "erasure", "DELETE FROM erasures WHERE minute = :minute AND user_id = :user_id"
)
# A user who asked to be erased has no request under way any more after this time. An order of theirs that was cut off has been
# processed (orders.jobs), so that their lists lead to all of them.
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
# Staff have to give the role up first, so that the shop never loses its last admin this way.
ERASING = conditional_write(
    "Q6",
    "UPDATE users SET active = false, erasing_at = :now WHERE user_id = :user_id IF role = '' AND demo = false",
)
# Former staff still stand on the list.
OFF_STAFF = conditional_write(
    "staff", "DELETE FROM staff WHERE shop = :shop AND user_id = :user_id IF EXISTS"
)
USER_REMOVED = conditional_write("Q6", "DELETE FROM users WHERE user_id = :user_id IF EXISTS")

# When an account has its next turn that has to wait for something.
RETRY_AFTER = timedelta(hours=1)
log = logging.getLogger(__name__)


def person_from_user(user: User) -> DataSubject:
    """Return a user as the person whose data the apps hold."""
    return DataSubject(user.user_id, user.email, user.name or "", user.role or "", bool(user.demo))


def request_erasure(user_id: UUID, now: datetime) -> None:
    """Have an account erased: from now on it cannot be used, and the worker does the rest.

    `now` is in UTC. Raises NoSuchUser for an account that is gone or belongs to the staff or the demo shop; CassandraUnavailable.
    """
    ERASURES.note(now, user_id=user_id)
    if not ERASING.apply(if_lost=SEND_AGAIN, user_id=user_id, now=now):
        raise NoSuchUser
    end_sessions(user_id)
    audit_log.add_entry("erased", now, by=user_id)


def erase_account(user_id: UUID, now: datetime) -> bool:
    """Erase all that is held about a user who has asked for it; a second call does what a first one left.

    Returns whether there was something to erase. `now` is in UTC. Raises ErasureRefused, CassandraUnavailable.
    """
    user = queries.get_user(user_id)
    if user is None or user.erasing_at is None:
        return False  # done already, or the request died before it was decided
    person = person_from_user(user)
    end_sessions(user_id)
    personal_data.erase_personal_data(person, now)
    queue_mail(user_id, FAREWELL_EVENT, user.email, "erased", {"name": person.name}, now)
    # Also of an address that the account was moving to, or has just left.
    for email in filter(None, (user.email_next, user.email_before, user.email)):
        EMAIL_RELEASED.apply(if_lost=REFUSED_MEANS_DONE, email=email_key(email), user_id=user_id)
    USER_REMOVED.apply(if_lost=SEND_AGAIN, user_id=user_id)
    log.info("user %s is erased", user_id)
    return True


def remove_access(user_id: UUID) -> None:
    """End what lets a user in: sessions, a second factor, a place on the list of staff. Raises CassandraUnavailable."""
    delete_second_factor(user_id)  # ends the sessions, too
    OFF_STAFF.apply(if_lost=REFUSED_MEANS_DONE, shop=queries.SHOP, user_id=user_id)


def run_erasures(sweep: Sweep) -> int:
    """Erase the users who have asked for it, and return how many that were. Who has to wait has another turn in an hour."""
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
