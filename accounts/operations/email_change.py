"""Changing a member's e-mail address.

The steps: store the intent > claim the new address > move the account > queue the mails > release the old address. The
user's row keeps the intent and the old address until the last step, and each login continues an interrupted change
(`finish_email_change`). Before the move only the old address can log in, afterwards only the new one, even after a crash.
"""

from datetime import datetime
from uuid import uuid5

from django.conf import settings
from django.urls import reverse
from django.utils.crypto import constant_time_compare

from accounts import audit_log, queries
from accounts.errors import EmailTaken, NoSuchUser
from accounts.models import User
from accounts.operations.email_claims import CANCEL_EMAIL_CHANGE, EMAIL_RELEASED, claim_email
from accounts.operations.passwords import account_fingerprint
from accounts.operations.registration import MAILBOX_NAMESPACE
from cassandra_db import REFUSED_MEANS_DONE, SEND_AGAIN, applied_if, conditional_write, write
from jobs.due_rows import DueRows
from mail.operations import MailOptions, allow_address, queue_mail
from web.encryption import DecryptionError, decrypt_token, encrypt_token

START_EMAIL_CHANGE = conditional_write(
    "Q6", "UPDATE users SET email_next = :next WHERE user_id = :user_id IF email = :email"
)
CHANGE_EMAIL = conditional_write(
    "Q6",
    """UPDATE users SET email = :next, email_next = null, email_before = :email, verified_at = :now
       WHERE user_id = :user_id IF email = :email AND email_next = :next""",
)
FINISH_EMAIL_CHANGE = conditional_write(
    "Q6", "UPDATE users SET email_before = null WHERE user_id = :user_id IF email_before = :before"
)
INSERT_EMAIL_PROOF = write(
    "Q7",
    """INSERT INTO verified_users_by_minute (minute, user_id, written) VALUES (:minute, :user_id, :written)
       USING TIMESTAMP :written AND TTL 604800""",
)
DELETE_EMAIL_PROOF = write(
    "Q7",
    "DELETE FROM verified_users_by_minute USING TIMESTAMP :written WHERE minute = :minute AND user_id = :user_id",
)
# Members who have just proved an address or logged in. A job joins their guest orders (orders.jobs).
EMAIL_PROOFS = DueRows(
    job="guest orders",
    label="guest orders of user",
    select=queries.EMAIL_PROOFS,
    insert=INSERT_EMAIL_PROOF,
    delete=DELETE_EMAIL_PROOF,
)
CHANGE_SECONDS = 24 * 3600
_SAME_REQUEST_SECONDS = 120
_PURPOSE = "accounts.email"


def request_email_change(member: User, email: str, now: datetime) -> None:
    """Mail the new address a link that confirms the change, and inform the present address.

    If the new address has an account, the mail to it says so; the page does not reveal it. Raises CassandraUnavailable.
    """
    taken = queries.find_user_by_email(email)
    free = taken is None or taken == member
    template = "email_confirm" if free else "email_taken"
    url = (
        email_change_link(member, email)
        if free
        else settings.PUBLIC_URL + reverse("accounts:login")
    )
    request = f"{account_fingerprint(member)}:{int(now.timestamp()) // _SAME_REQUEST_SECONDS}"
    key = queries.email_key(email)
    queue_mail(
        uuid5(MAILBOX_NAMESPACE, key), f"{template}:{request}", email, template, {"url": url}, now
    )
    context = {
        "name": member.name,
        "email": email,
        "url": settings.PUBLIC_URL + reverse("accounts:password"),
    }
    queue_mail(
        member.user_id,
        f"email asked {key}:{request}",
        member.email,
        "email_change_requested",
        context,
        now,
    )


def email_change_link(member: User, email: str) -> str:
    """Return the link that confirms a member's new e-mail address. It is valid for 24 hours, or until the password changes."""
    token = encrypt_token([member.user_id.hex, email, account_fingerprint(member)], _PURPOSE)
    return str(settings.PUBLIC_URL) + reverse("accounts:email_confirm", args=[token])


def parse_email_change_token(token: str, member: User) -> str | None:
    """Return the e-mail address that a link confirms for this member; None if the link is another member's, too old or used."""
    try:
        user_id, email, state = decrypt_token(token, _PURPOSE, max_age=CHANGE_SECONDS)
    except DecryptionError:
        return None
    if user_id != member.user_id.hex or not constant_time_compare(
        state, account_fingerprint(member)
    ):
        return None
    return email


def change_email(member: User, email: str, now: datetime) -> User:
    """Move a member's account to an e-mail address that they have proved; return the changed member.

    If several accounts claim the address at once, one of them gets it. Raises EmailTaken, NoSuchUser, CassandraUnavailable.
    """
    member = finish_email_change(member, now)
    who = {"user_id": member.user_id, "email": member.email, "next": email}
    key = queries.email_key(email)
    if not START_EMAIL_CHANGE.apply(if_lost=SEND_AGAIN, **who):
        return _reread_member(member, key)
    if key != queries.email_key(member.email) and not claim_email(key, member.user_id, now):
        CANCEL_EMAIL_CHANGE.apply(if_lost=REFUSED_MEANS_DONE, user_id=member.user_id, email=email)
        raise EmailTaken
    CHANGE_EMAIL.apply(if_lost=applied_if(lambda row: bool(row.email == email)), now=now, **who)
    return finish_email_change(_reread_member(member, key), now)


def _reread_member(member: User, key: str) -> User:
    """Read a member again whom another process may have moved to this address. Raises EmailTaken if none has."""
    fresh = queries.get_user(member.user_id)
    if fresh is None:
        raise NoSuchUser
    if queries.email_key(fresh.email) != key:
        raise EmailTaken
    return fresh


def finish_email_change(member: User, now: datetime) -> User:
    """Finish a change of address: queue its mails and release the old address. Return the member. Raises CassandraUnavailable."""
    if not (before := member.email_before):
        return member
    event, context = (
        f"email changed {member.verified_at.isoformat()}",
        {"name": member.name, "email": member.email},
    )
    queue_mail(
        member.user_id,
        f"{event}, old",
        before,
        "email_changed",
        context,
        now,
        MailOptions(about=member.user_id),
    )
    queue_mail(member.user_id, f"{event}, new", member.email, "email_welcome", context, now)
    audit_log.add_entry("email_changed", now, by=member.user_id)
    record_email_proof(member, now)
    allow_address(member.email)
    if queries.email_key(before) != queries.email_key(member.email):
        EMAIL_RELEASED.apply(
            if_lost=REFUSED_MEANS_DONE, email=queries.email_key(before), user_id=member.user_id
        )
    FINISH_EMAIL_CHANGE.apply(if_lost=REFUSED_MEANS_DONE, user_id=member.user_id, before=before)
    member.email_before = None
    return member


def process_sign_in(member: User, now: datetime) -> None:
    """Finish a change of address that a crash has cut off; called at each sign-in. Raises CassandraUnavailable."""
    member = finish_email_change(member, now)
    if member.email_next:
        try:
            change_email(member, member.email_next, now)
        except EmailTaken:
            CANCEL_EMAIL_CHANGE.apply(
                if_lost=REFUSED_MEANS_DONE, user_id=member.user_id, email=member.email_next
            )
    record_email_proof(member, now)


def record_email_proof(member: User, now: datetime) -> None:
    """Store that a member has proved an address, so that guest orders with it join the account. Raises CassandraUnavailable."""
    if member.verified_at and not member.demo:
        EMAIL_PROOFS.note(now, user_id=member.user_id)
