"""What happens to accounts. Every write to a user's row is conditional: an UPDATE alone would make a user of nobody."""

from datetime import datetime
from uuid import UUID, uuid4, uuid5

from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core import signing
from django.urls import reverse

from accounts import queries
from accounts.addresses import Address
from accounts.errors import AddressBookFull, EmailTaken, NoSuchAddress, NoSuchUser
from accounts.models import User
from accounts.sessions import sessions_ended
from cassandra_db import conditional
from mail.operations import mail_queued

USER_WRITTEN = conditional(
    "Q6",
    """INSERT INTO users (user_id, email, name, password, role, active, demo, created_at)
       VALUES (:user_id, :email, :name, :password, :role, true, :demo, :now) IF NOT EXISTS""",
)
USER_DROPPED = conditional("Q6", "DELETE FROM users WHERE user_id = :user_id IF EXISTS")
EMAIL_CLAIMED = conditional(
    "Q7", "INSERT INTO users_by_email (email, user_id, claimed_at) VALUES (:email, :user_id, :now) IF NOT EXISTS"
)
EMAIL_RECLAIMED = conditional(
    "Q7", "UPDATE users_by_email SET user_id = :user_id, claimed_at = :now WHERE email = :email IF user_id = :gone"
)
NAMED = conditional("Q6", "UPDATE users SET name = :name WHERE user_id = :user_id IF EXISTS")
PASSWORD_SET = conditional("Q6", "UPDATE users SET password = :password WHERE user_id = :user_id IF password = :before")
ROLE_GIVEN = conditional("Q6", "UPDATE users SET role = :role WHERE user_id = :user_id IF EXISTS")
# The places of the address book are numbered, so that there can never be more of them, whoever races.
ADDRESS_ADDED = conditional(
    "Q8",
    "UPDATE users SET addresses[:key] = :address WHERE user_id = :user_id IF email != null AND addresses[:free] = null",
)
ADDRESS_CHANGED = conditional(
    "Q8", "UPDATE users SET addresses[:key] = :address WHERE user_id = :user_id IF addresses[:there] != null"
)
ADDRESS_REMOVED = conditional(
    "Q8",
    """UPDATE users SET addresses[:key] = null, default_address = :default WHERE user_id = :user_id
       IF addresses[:there] != null""",
)
ADDRESS_PREFERRED = conditional(
    "Q8", "UPDATE users SET default_address = :key WHERE user_id = :user_id IF addresses[:there] != null"
)

MAX_ADDRESSES = 20
LINK_SECONDS = 24 * 3600
# Somebody who presses the button again at once gets no second mail.
_SAME_REQUEST_SECONDS = 120
_SALT = "accounts.registration"
_MAILBOX = UUID("6f2d4a3e-5a53-4b8e-9c0a-7b1a8f3f6c11")  # namespace of what is about an e-mail address


def registration_asked(email: str, now: datetime) -> None:
    """Mail the link that finishes a registration, or, to an address with an account, a word that there is one.

    Both take the same statements, so that neither the answer nor its time tells who has an account (fault 7).
    Raises CassandraUnavailable.
    """
    known = queries.user_by_email(email) is not None
    template = "registered_already" if known else "registration"
    url = settings.PUBLIC_URL + reverse("accounts:login") if known else registration_link(email)
    request = int(now.timestamp()) // _SAME_REQUEST_SECONDS
    mail_queued(uuid5(_MAILBOX, queries.email_key(email)), f"{template}:{request}", email, template, {"url": url}, now)


def registration_link(email: str, role: str = "") -> str:
    """Return the address under which, for 24 hours, this e-mail address can be registered, with a role for staff."""
    return str(settings.PUBLIC_URL) + reverse("accounts:finish", args=[signing.dumps([email, role], salt=_SALT)])


def registration_meant(token: str) -> tuple[str, str] | None:
    """Return the e-mail address and the role that a link was made for; None if it is not ours or too old."""
    try:
        email, role = signing.loads(token, salt=_SALT, max_age=LINK_SECONDS)
    except (signing.BadSignature, ValueError):
        return None
    return email, role


def user_registered(
    email: str,
    name: str,
    password: str | None,
    now: datetime,
    role: str = "",
    *,
    demo: bool = False,
    user_id: UUID | None = None,
) -> User:
    """Make an account and return it; without a password nobody can log in.

    The user is written first, where nobody can find it, and the claim of the e-mail address decides: of two who
    register it at once one wins. With a `user_id` of its own (the showroom's) a repeat returns the first account.
    Raises EmailTaken, CassandraUnavailable.
    """
    new_id, key = user_id or uuid4(), queries.email_key(email)
    written = USER_WRITTEN.apply(
        mine=lambda _: True,  # whoever has the id has made the row
        user_id=new_id,
        email=email.strip(),
        name=name,
        password=make_password(password),
        role=role,
        demo=demo,
        now=now,
    )
    if not _claimed(key, new_id, now):
        if written:
            USER_DROPPED.apply(mine=lambda _: True, user_id=new_id)
        raise EmailTaken
    made = queries.user(new_id)
    if made is None:
        raise NoSuchUser  # erased in the same moment
    return made


def _claimed(key: str, user_id: UUID, now: datetime) -> bool:
    outcome = EMAIL_CLAIMED.apply(mine=lambda row: bool(row.user_id == user_id), email=key, user_id=user_id, now=now)
    if outcome:
        return True
    holder = outcome.current.user_id if outcome.current else None
    if holder == user_id:
        return True
    # Users are written before their claim: a claim without its user is left of an account that is gone.
    if holder is None or queries.user(holder) is not None:
        return False
    return bool(
        EMAIL_RECLAIMED.apply(
            mine=lambda row: bool(row.user_id == user_id), email=key, user_id=user_id, now=now, gone=holder
        )
    )


def profile_saved(user_id: UUID, name: str) -> None:
    """Change a member's name. Raises NoSuchUser, CassandraUnavailable."""
    if not NAMED.apply(mine=lambda _: True, user_id=user_id, name=name):
        raise NoSuchUser


def password_rehashed(member: User, password: str) -> None:
    """Store the password a member has just logged in with by today's hasher. Raises CassandraUnavailable."""
    before, member.password = member.password, make_password(password)
    # Refused if it has been changed meanwhile; then that one counts.
    PASSWORD_SET.apply(user_id=member.user_id, password=member.password, before=before)


def role_given(user_id: UUID, role: str) -> None:
    """Make a member staff, or by '' a shopper, and end all of the member's sessions. Raises NoSuchUser, CassandraUnavailable."""
    if not ROLE_GIVEN.apply(mine=lambda _: True, user_id=user_id, role=role):
        raise NoSuchUser
    sessions_ended(user_id)


def address_saved(user_id: UUID, address: Address, *, default: bool = False) -> str:
    """Add an address to a member's book, or change the one with its key, and return its key.

    Raises AddressBookFull, NoSuchAddress if the one to be changed is gone, NoSuchUser, CassandraUnavailable.
    """
    key = address.key
    if not key:
        key = _address_added(user_id, address)
    elif not ADDRESS_CHANGED.apply(mine=lambda _: False, user_id=user_id, key=key, there=key, address=address.fields()):
        raise NoSuchAddress
    if default:
        ADDRESS_PREFERRED.apply(mine=lambda _: False, user_id=user_id, key=key, there=key)
    return key


def _address_added(user_id: UUID, address: Address) -> str:
    fields = address.fields()
    while True:
        member = queries.user(user_id)
        if member is None:
            raise NoSuchUser
        taken = set(member.addresses or {})
        free = next((str(place) for place in range(1, MAX_ADDRESSES + 1) if str(place) not in taken), None)
        if free is None:
            raise AddressBookFull
        # Another tab may have taken the place since: then the next one.
        if ADDRESS_ADDED.apply(
            mine=lambda row: bool(row.addresses) and dict(row.addresses).get(free) == fields,  # noqa: B023
            user_id=user_id,
            key=free,
            free=free,
            address=fields,
        ):
            return free


def address_removed(user_id: UUID, key: str) -> None:
    """Take an address out of a member's book; if it was the default, the next one is. Raises NoSuchAddress, CassandraUnavailable."""
    member = queries.user(user_id)
    rest = [each for each in queries.addresses_of(member) if each.key != key] if member else []
    if not ADDRESS_REMOVED.apply(
        mine=lambda row: key not in (row.addresses or {}),
        user_id=user_id,
        key=key,
        there=key,
        default=rest[0].key if rest else "",
    ):
        raise NoSuchAddress
