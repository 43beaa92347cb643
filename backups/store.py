"""The store of backups: a folder or a bucket with encrypted chunks, and for each backup a manifest that names its chunks.

A chunk is named by a keyed hash of its content. So backups share what has not changed, and one that was cut off need not store
again what is there. AES-GCM is the checksum: a chunk that is damaged, or has another one's name, cannot be decrypted. Both keys
are made of BACKUP_KEY.
"""

import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from typing import IO, Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages

from backups.errors import BackupError, explain
from backups.manifest import Manifest, StoredFile
from web.encryption import derive_key

CHUNK_BYTES = 4 * 1024 * 1024
MIN_KEY_LENGTH = 32
CHUNKS, MANIFESTS = "chunks", "manifests"
# The first line of each manifest. Change the number when other versions could not read it.
HEAD = b"stoa-backup 1"
_NONCE = 12  # bytes, as AES-GCM wants them


class BackupStore:
    """The store that the settings name. Methods raise BackupError if the storage fails or something in it is damaged."""

    def __init__(self) -> None:
        if "backups" not in settings.STORAGES:
            raise BackupError("Set BACKUP_FOLDER or BACKUP_S3_BUCKET: backups have no place.")
        if len(settings.BACKUP_KEY) < MIN_KEY_LENGTH:
            raise BackupError(
                f"Set BACKUP_KEY, at least {MIN_KEY_LENGTH} random characters. Keep a copy elsewhere: without it no backup can be read."
            )
        self._storage = storages["backups"]
        self._names_key = derive_key(settings.BACKUP_KEY, "names of backups")
        self._cipher = AESGCM(derive_key(settings.BACKUP_KEY, "backups"))

    @cached_property
    def known_chunks(self) -> set[str]:
        """The names of all chunks in the store."""
        return set(self._list(CHUNKS))

    def write_file(
        self, name: str, open_file: Callable[[], IO[Any]], passed: Callable[[int], None]
    ) -> StoredFile:
        """Store a file. `passed` is called with the bytes of each chunk. Raises FileNotFoundError."""
        size, chunks = 0, []
        with open_file() as file:
            while content := file.read(CHUNK_BYTES):
                chunk = self._digest(content)
                if chunk not in self.known_chunks:
                    self._write(f"{CHUNKS}/{chunk}", self._encrypt(content, chunk))
                    self.known_chunks.add(chunk)
                chunks.append(chunk)
                size += len(content)
                passed(len(content))
        return {"name": name, "size": size, "chunks": chunks}

    def read_file(self, file: StoredFile) -> Iterator[bytes]:
        """Yield a file's content in chunks."""
        for chunk in file["chunks"]:
            yield self._decrypt(self._read(f"{CHUNKS}/{chunk}"), chunk)

    def list_backups(self, keyspace: str = "") -> list[str]:
        """Return the names of the backups of one keyspace, or of all, oldest first."""
        end = f"-{keyspace}" if keyspace else ""
        return sorted(name for name in self._list(MANIFESTS) if name.endswith(end))

    def read_manifest(self, name: str) -> Manifest:
        """Return a backup's manifest; "latest" names the newest of all."""
        names = self.list_backups()
        name = names[-1] if names and name == "latest" else name
        if name not in names:
            raise BackupError(
                f"There is no backup {name}. There are: {', '.join(names) or 'none'}."
            )
        head, _, sealed = self._read(f"{MANIFESTS}/{name}").partition(b"\n")
        if head != HEAD:
            raise BackupError(
                f"{name} has the format {head[:40]!r}, and this version reads {HEAD!r}. Restore it with the version that made it."
            )
        return Manifest(**json.loads(self._decrypt(sealed, name)))

    def require_chunks(self, manifest: Manifest) -> None:
        """Raise BackupError if the store lacks chunks of a backup."""
        if missing := manifest.list_chunks().difference(self._list(CHUNKS)):
            raise BackupError(
                f"{manifest.name} is incomplete: the store lacks {CHUNKS}/{min(missing)}, and {len(missing) - 1} more. Make a new"
                " backup, or restore another one."
            )

    def write_manifest(self, manifest: Manifest) -> None:
        """Complete a backup: from now on it is listed. Raises BackupError if somebody has deleted its chunks meanwhile."""
        self.require_chunks(manifest)
        sealed = self._encrypt(json.dumps(asdict(manifest)).encode(), manifest.name)
        self._write(f"{MANIFESTS}/{manifest.name}", HEAD + b"\n" + sealed)

    def delete_old_backups(self, keyspace: str, keep: int) -> int:
        """Delete a keyspace's backups but the newest `keep`, then the chunks that no backup needs. Return the number of chunks.

        No chunk is deleted if a manifest cannot be read.
        """
        for name in self.list_backups(keyspace)[: -max(keep, 1)]:
            self._delete(f"{MANIFESTS}/{name}")
        manifests = [self.read_manifest(name) for name in self.list_backups()]
        unused = self.known_chunks.difference(*(each.list_chunks() for each in manifests))
        for chunk in unused:
            self._delete(f"{CHUNKS}/{chunk}")
        return len(unused)

    def _digest(self, content: bytes) -> str:
        return hmac.new(self._names_key, content, sha256).hexdigest()

    def _encrypt(self, content: bytes, name: str) -> bytes:
        nonce = secrets.token_bytes(_NONCE)
        return nonce + self._cipher.encrypt(nonce, content, name.encode())

    def _decrypt(self, sealed: bytes, name: str) -> bytes:
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], name.encode())
        except (InvalidTag, ValueError) as error:
            raise BackupError(
                f"{name} is damaged, or BACKUP_KEY is another one. Delete a chunk that is damaged: the next backup stores it again,"
                " if the shop still has it. Delete a damaged backup's manifest: meanwhile no chunk is deleted."
            ) from error

    def _list(self, folder: str) -> list[str]:
        with explain(Exception, f"The store of backups cannot list {folder}"):
            try:
                return list(self._storage.listdir(folder)[1])
            except FileNotFoundError:
                return []

    def _read(self, path: str) -> bytes:
        text = f"The store of backups lacks {path}, or cannot read it"
        with explain(Exception, text), self._storage.open(path) as file:
            return bytes(file.read())

    def _write(self, path: str, content: bytes) -> None:
        text = "The store of backups is full or cannot be written; what it has stays. Run the backup again"
        with explain(Exception, text):
            self._storage.save(path, ContentFile(content))

    def _delete(self, path: str) -> None:
        with explain(Exception, f"The store of backups cannot delete {path}"):
            self._storage.delete(path)
