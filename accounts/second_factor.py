"""The staff's second factor: codes of a telephone (TOTP, RFC 6238), and recovery codes for a lost telephone.

A code counts once, even in a race: a conditional write stores its half minute, and from then on only codes of later half
minutes are accepted. A session stores that its user has entered a code. Deleting the second factor ends all sessions.
"""

import base64
import secrets
from collections.abc import MutableMapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import pyotp
from django.contrib.sessions.backends.base import SessionBase

from accounts import demo_logins
from accounts.errors import AlreadyEnrolled
from accounts.models import User
from accounts.sessions import PASSED_AT, SECOND_FACTOR, STAFF_IDLE, end_sessions
from cassandra_db import (
    RAISE_UNKNOWN,
    SEND_AGAIN,
    Row,
    applied_if,
    conditional_write,
    current_time,
    read,
)
from shop_settings.brand import get_brand
from web import encryption

FACTOR = read(
    "second factor",
    "SELECT secret, step, recovery, enrolled_at FROM second_factors WHERE user_id = :user_id",
)
ENROLLED = conditional_write(
    "second factor",
    """INSERT INTO second_factors (user_id, secret, step, recovery, enrolled_at)
       VALUES (:user_id, :secret, :step, :recovery, :now) IF NOT EXISTS""",
)
# No `applied_if` below: a code whose answer was lost counts as used. The next one works.
STEP_USED = conditional_write(
    "second factor",
    """UPDATE second_factors SET step = :step, secret = :sealed WHERE user_id = :user_id
       IF secret = :secret AND step < :step""",
)
STEP_USED_FOR_CODES = conditional_write(
    "second factor",
    """UPDATE second_factors SET step = :step, recovery = :recovery WHERE user_id = :user_id
       IF secret = :secret AND step < :step""",
)
RECOVERY_USED = conditional_write(
    "second factor",
    "UPDATE second_factors SET recovery[:code] = null WHERE user_id = :user_id IF recovery[:there] != null",
)
RESET = conditional_write(
    "second factor", "DELETE FROM second_factors WHERE user_id = :user_id IF EXISTS"
)

CODE_AT = (
    "_code_at"  # the key in a session of the time at which its user last entered a further code
)
FRESH_FOR = 5 * 60  # seconds in which no page asks for another code
SECONDS = 30  # seconds in which a code is valid
DRIFT = 1  # half minutes that a telephone's clock may be ahead or behind
RECOVERY_CODES = 10
# No two of these characters look alike. Twelve of them are 60 bits.
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_SECRET, _RECOVERY, _OFFER = "second factor", "recovery code", "second factor offered"


@dataclass(frozen=True)
class SecondFactorStatus:
    """The state of a user's second factor: when it was enrolled, and how many recovery codes are unused."""

    enrolled_at: datetime
    recovery_codes_left: int


def get_second_factor(user_id: UUID) -> SecondFactorStatus | None:
    """Return a user's second factor, or None. Raises CassandraUnavailable."""
    row = FACTOR.one(user_id=user_id)
    return SecondFactorStatus(row.enrolled_at, len(row.recovery or {})) if row else None


def enrolment_secret(session_key: str, user: User) -> str:
    """Return the secret (base 32) that this session can enrol as its user's second factor.

    It is derived from the session's key: the page and its QR code agree, and nothing is stored before a code confirms it.
    """
    if fixed := demo_logins.demo_totp_secret(user):
        return fixed
    digest = encryption.keyed_digests(session_key, _OFFER, str(user.pk))[0]
    return base64.b32encode(bytes.fromhex(digest)[:20]).decode()


def provisioning_uri(secret: str, user: User) -> str:
    """Return the URI in the QR code, for authenticator apps."""
    return pyotp.TOTP(secret).provisioning_uri(name=user.email, issuer_name=get_brand().name)


def enrol_second_factor(user: User, secret: str, code: str, now: datetime) -> list[str] | None:
    """Enrol a telephone as the second factor, if `code` is right; return ten recovery codes, or None for a wrong code.

    `now` is in UTC. Raises AlreadyEnrolled, CassandraUnavailable.
    """
    step = _step_of(secret, code, now)
    if step is None:
        return None
    codes = _recovery_codes()
    _enrol(user, secret, step, _recovery_digests(user.pk, codes, now), now)
    return codes


def enrol_demo_second_factor(user: User, now: datetime) -> None:
    """Enrol the public second factor for a demo login of the staff, if it has none. Raises CassandraUnavailable."""
    if secret := demo_logins.demo_totp_secret(user):
        try:
            _enrol(user, secret, 0, {}, now)
        except AlreadyEnrolled:
            return


def _enrol(
    user: User, secret: str, step: int, recovery: dict[str, datetime], now: datetime
) -> None:
    box = encryption.encrypt(secret, _SECRET, str(user.pk))
    if not ENROLLED.apply(
        if_lost=applied_if(lambda row: bool(row.secret == box)),
        user_id=user.pk,
        secret=box,
        step=step,
        recovery=recovery,
        now=now,
    ):
        raise AlreadyEnrolled


def verify_totp_code(user_id: UUID, code: str, now: datetime) -> bool:
    """Use up a telephone's code; return whether it was valid. `now` is in UTC. Raises DecryptionError, CassandraUnavailable."""
    row = FACTOR.one(user_id=user_id)
    if row is None:
        return False
    secret, stale = _decrypt_secret(row, user_id)
    step = _step_of(secret, code, now)
    if step is None:
        return False
    box = encryption.encrypt(secret, _SECRET, str(user_id)) if stale else row.secret
    return bool(
        STEP_USED.apply(
            if_lost=RAISE_UNKNOWN, user_id=user_id, secret=row.secret, sealed=box, step=step
        )
    )


def use_recovery_code(user_id: UUID, code: str) -> bool:
    """Use up a recovery code; return whether it was right and unused. Raises CassandraUnavailable."""
    typed = "".join(letter for letter in code.upper() if letter in _LETTERS)
    return any(
        RECOVERY_USED.apply(if_lost=RAISE_UNKNOWN, user_id=user_id, code=digest, there=digest)
        for digest in encryption.keyed_digests(typed, _RECOVERY, str(user_id))
    )


def renew_recovery_codes(user_id: UUID, code: str, now: datetime) -> list[str] | None:
    """Use up a telephone's code, and replace the recovery codes by ten new ones.

    Return the new codes, or None for a wrong code. `now` is in UTC. Raises DecryptionError, CassandraUnavailable.
    """
    row = FACTOR.one(user_id=user_id)
    if row is None:
        return None
    step = _step_of(_decrypt_secret(row, user_id)[0], code, now)
    codes = _recovery_codes()
    digests = _recovery_digests(user_id, codes, now)
    if step is None or not STEP_USED_FOR_CODES.apply(
        if_lost=RAISE_UNKNOWN, user_id=user_id, secret=row.secret, step=step, recovery=digests
    ):
        return None
    return codes


def delete_second_factor(user_id: UUID) -> bool:
    """Delete a user's second factor and end all their sessions: the next login enrols a new one.

    Return whether there was one. Raises CassandraUnavailable.
    """
    gone = RESET.apply(if_lost=SEND_AGAIN, user_id=user_id)
    end_sessions(user_id)
    return bool(gone)


def mark_second_factor_passed(session: SessionBase, user: User) -> None:
    """Mark that a session has passed the second factor. The session gets a new key and the short life of a staff session."""
    session.cycle_key()
    session[SECOND_FACTOR], session[PASSED_AT] = str(user.pk), int(current_time().timestamp())
    session.set_expiry(STAFF_IDLE)


def has_passed_second_factor(session: SessionBase | MutableMapping[str, Any], user: User) -> bool:
    """Return whether this session has passed the second factor."""
    return bool(session.get(SECOND_FACTOR) == str(user.pk))


def note_code(session: SessionBase) -> None:
    """Store in a session that its user has just entered another code. The session's expiry stays the same."""
    session[CODE_AT] = int(current_time().timestamp())


def has_fresh_code(session: SessionBase | MutableMapping[str, Any]) -> bool:
    """Return whether this session's user has entered a code in the last five minutes."""
    last = max(session.get(PASSED_AT, 0), session.get(CODE_AT, 0))
    return bool(current_time().timestamp() - last < FRESH_FOR)


def clear_second_factor_pass(session: SessionBase) -> None:
    """Remove the mark of the second factor from a session in which a user has just logged in."""
    for key in (SECOND_FACTOR, PASSED_AT, CODE_AT):
        session.pop(key, None)
    session.set_expiry(None)


def get_demo_code(user: User, now: datetime) -> tuple[str, int]:
    """Return the next unused code of a demo login of the staff, and the seconds until it is valid; "" for other users.

    `now` is in UTC. Raises CassandraUnavailable.
    """
    secret = demo_logins.demo_totp_secret(user)
    if not secret:
        return "", 0
    row = FACTOR.one(user_id=user.pk)
    step = max(_step_at(now), (row.step if row else 0) + 1)
    return _code(secret, step), max(0, (step - DRIFT) * SECONDS - int(now.timestamp()))


def _decrypt_secret(row: Row, user_id: UUID) -> tuple[str, bool]:
    return encryption.decrypt(row.secret, _SECRET, str(user_id))


def _step_at(now: datetime) -> int:
    return int(now.timestamp()) // SECONDS


def _code(secret: str, step: int) -> str:
    return pyotp.TOTP(secret).generate_otp(step)


def _step_of(secret: str, code: str, now: datetime) -> int | None:
    """Return the half minute to which a code belongs: the present one or a neighbour. Return None for a wrong code."""
    typed = "".join(code.split())
    near = range(_step_at(now) - DRIFT, _step_at(now) + DRIFT + 1)
    return next(
        (step for step in near if pyotp.utils.strings_equal(typed, _code(secret, step))), None
    )


def _recovery_codes() -> list[str]:
    made = ("".join(secrets.choice(_LETTERS) for _ in range(12)) for _ in range(RECOVERY_CODES))
    return [f"{code[:4]}-{code[4:8]}-{code[8:]}" for code in made]


def _recovery_digests(user_id: UUID, codes: list[str], now: datetime) -> dict[str, datetime]:
    return {
        encryption.keyed_digests(code.replace("-", ""), _RECOVERY, str(user_id))[0]: now
        for code in codes
    }
