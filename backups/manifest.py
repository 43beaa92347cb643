"""What a backup says about itself: its manifest, which is stored as JSON."""

from dataclasses import dataclass
from datetime import datetime
from typing import TypedDict


class StoredFile(TypedDict):
    """A file in the store, cut into chunks."""

    name: str
    size: int
    chunks: list[str]


@dataclass(frozen=True)
class Manifest:
    """A complete backup of a keyspace and of the media.

    `times` says when each table's copy began and ended: writes that were answered before it began are in it, writes that began after
    its end are not. `schema` has the statements that make a table, `files` its SSTables by the host id of their node.
    `tokens` says which rows a node had. `settings` are variables of the environment, without secrets.
    """

    name: str
    keyspace: str
    version: str
    replication: str
    settings: dict[str, str]
    tokens: dict[str, list[str]]
    times: dict[str, list[str]]
    schema: dict[str, list[str]]
    files: dict[str, dict[str, list[StoredFile]]]
    media: list[StoredFile]

    @property
    def snapshot_at(self) -> datetime:
        """The time since which writes may be missing."""
        return min(datetime.fromisoformat(begun) for begun, _ended in self.times.values())

    @property
    def table_bytes(self) -> int:
        return sum(file["size"] for file in self._list_table_files())

    def list_chunks(self) -> set[str]:
        """Return the names of all chunks that the backup needs."""
        files = (*self._list_table_files(), *self.media)
        return {name for file in files for name in file["chunks"]}

    def _list_table_files(self) -> list[StoredFile]:
        return [file for nodes in self.files.values() for found in nodes.values() for file in found]
