"""The log of erasures, beside the backups: a restored backup has erased people again, and this log says who they are.

It has an empty file for each erasure, in a folder for each day. Its name is a hash of the person's random id, which only those
recognise who have the id, from a backup.
"""

from datetime import datetime
from hashlib import sha256
from uuid import UUID

from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

FOLDER = "erasures"


def hash_user_id(user_id: UUID) -> str:
    """Return the name under which a person's erasure is logged. It needs no key: a restored shop may have a new one."""
    return sha256(b"erased " + user_id.bytes).hexdigest()


def log_erasure(user_id: UUID, now: datetime) -> None:
    """Log that a person is erased, if this shop makes backups (BACKUP_FOLDER …). Raises the storage's errors."""
    if "backups" in settings.STORAGES:
        name = f"{FOLDER}/{now:%Y-%m-%d}/{hash_user_id(user_id)}"
        storages["backups"].save(name, ContentFile(b"erased\n"))


def list_logged_erasures() -> set[str]:
    """Return the hashes of all people whose erasure was logged. Raises the storage's errors."""
    if "backups" not in settings.STORAGES:
        return set()
    storage = storages["backups"]
    try:
        days = storage.listdir(FOLDER)[0]  # a bucket lists folders, but for it none of them exists
    except FileNotFoundError:
        return set()
    return {name for day in days for name in storage.listdir(f"{FOLDER}/{day}")[1]}
