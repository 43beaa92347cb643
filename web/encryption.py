"""Encrypts secrets that the shop reads again, and makes keyed hashes of secrets that it only recognises.

The keys are made of SECRET_KEY, so a thief of the tables cannot read them. After a change of SECRET_KEY the old key stays in
SECRET_KEY_FALLBACKS until all secrets have been encrypted with the new key.
"""

import base64
import hmac
import json
import secrets
from collections.abc import Iterator, Sequence
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from cassandra_db import current_time

_NONCE = 12  # bytes, as AES-GCM wants them


class DecryptionError(Exception):
    """The text was encrypted under an unknown key, for another owner, or not by this shop."""


def encrypt(text: str, purpose: str, owner: str) -> str:
    """Return the encrypted text, which only the same purpose and owner can decrypt."""
    return base64.b64encode(encrypt_bytes(text.encode(), purpose, owner)).decode()


def decrypt(ciphertext: str, purpose: str, owner: str) -> tuple[str, bool]:
    """Return the decrypted text, and whether the caller should encrypt it again since its key is old. Raises DecryptionError."""
    try:
        raw = base64.b64decode(ciphertext, validate=True)
    except ValueError as error:
        raise DecryptionError from error
    content, is_old = _decrypt(raw, purpose, owner)
    return content.decode(), is_old


def encrypt_bytes(content: bytes, purpose: str, owner: str) -> bytes:
    """Return a file's content, encrypted so that only the same purpose and owner can decrypt it."""
    nonce = secrets.token_bytes(_NONCE)
    return nonce + AESGCM(next(_keys(purpose))).encrypt(nonce, content, owner.encode())


def decrypt_bytes(content: bytes, purpose: str, owner: str) -> bytes:
    """Return the content that `encrypt_bytes` has encrypted. Raises DecryptionError."""
    return _decrypt(content, purpose, owner)[0]


def encrypt_token(values: Sequence[str], purpose: str) -> str:
    """Return values as an encrypted token for a link. Readers of logs cannot see the values, and nobody can forge a token."""
    text = json.dumps([int(current_time().timestamp()), *values])
    sealed = encrypt_bytes(text.encode(), purpose, "")
    return base64.urlsafe_b64encode(sealed).decode().rstrip("=")


def decrypt_token(token: str, purpose: str, max_age: int | None = None) -> list[str]:
    """Return the values in a token. Raises DecryptionError for a forged token, or a token older than `max_age` seconds."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError as error:
        raise DecryptionError from error
    made_at, *values = json.loads(_decrypt(raw, purpose, "")[0])
    if max_age is not None and current_time().timestamp() - made_at > max_age:
        raise DecryptionError
    return [str(value) for value in values]


def keyed_digests(text: str, purpose: str, owner: str) -> list[str]:
    """Return keyed hashes of a text: first by the current key, then by the old keys. A thief of a table cannot guess the text."""
    message = b"\0".join((owner.encode(), text.encode()))
    return [hmac.new(key, message, sha256).hexdigest() for key in _keys(purpose)]


def _decrypt(raw: bytes, purpose: str, owner: str) -> tuple[bytes, bool]:
    for index, key in enumerate(_keys(purpose)):
        try:
            content = AESGCM(key).decrypt(raw[:_NONCE], raw[_NONCE:], owner.encode())
        except (InvalidTag, ValueError):
            continue
        return content, index > 0
    raise DecryptionError


def derive_key(secret: str, purpose: str) -> bytes:
    """Return a key of 32 bytes, made of a secret for one purpose."""
    info = f"stoa {purpose}".encode()
    return HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(secret.encode())


def _keys(purpose: str) -> Iterator[bytes]:
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield derive_key(secret, purpose)
