"""What has to be kept secret and read again: encrypted, under keys made of SECRET_KEY.

The tables alone are useless to a thief. After a change of SECRET_KEY the old one stands in
SECRET_KEY_FALLBACKS until everything has been encrypted anew.
"""

import base64
import hmac
import secrets
from collections.abc import Iterator
from hashlib import sha256

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

_NONCE = 12  # bytes, as AES-GCM wants them


class DecryptionError(Exception):
    """It was encrypted under a key that is gone, for another owner, or not by this shop."""


def encrypt(text: str, purpose: str, owner: str) -> str:
    """Return the text encrypted, so that it decrypts for this purpose and owner only."""
    nonce = secrets.token_bytes(_NONCE)
    box = AESGCM(next(_keys(purpose))).encrypt(nonce, text.encode(), owner.encode())
    return base64.b64encode(nonce + box).decode()


def decrypt(ciphertext: str, purpose: str, owner: str) -> tuple[str, bool]:
    """Return the decrypted text, and whether it has to be encrypted anew because the key is an old one. Raises DecryptionError."""
    try:
        raw = base64.b64decode(ciphertext, validate=True)
    except ValueError as error:
        raise DecryptionError from error
    for index, key in enumerate(_keys(purpose)):
        try:
            return AESGCM(key).decrypt(
                raw[:_NONCE], raw[_NONCE:], owner.encode()
            ).decode(), index > 0
        except (InvalidTag, ValueError):
            continue
    raise DecryptionError


def keyed_digests(text: str, purpose: str, owner: str) -> list[str]:
    """Return keyed hashes of a text, under today's key and then the old ones: a table that is stolen cannot be guessed through."""
    message = b"\0".join((owner.encode(), text.encode()))
    return [hmac.new(key, message, sha256).hexdigest() for key in _keys(purpose)]


def _keys(purpose: str) -> Iterator[bytes]:
    for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        yield HKDF(
            algorithm=SHA256(), length=32, salt=None, info=f"stoa {purpose}".encode()
        ).derive(secret.encode())
