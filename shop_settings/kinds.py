"""The class for a kind of settings, and the snapshot of all settings."""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import date
from hashlib import sha256
from typing import Any, Generic, TypeVar, cast
from uuid import UUID

SHOP = "shop"
T = TypeVar("T")
Made = TypeVar("Made")


@dataclass(frozen=True)
class SettingKind(Generic[T]):
    """A kind of settings: its name in the table, its conversions, its first values and its rule.

    `parse` converts a key and its JSON into a setting, `dump` a setting into JSON. `first_values` apply until a setting is saved.
    `check` raises SettingRefused for settings that contradict each other on the day that it gets. Settings of one `partition` are
    read together: only what few pages need has a partition of its own. `max_settings` bounds the rows of the partition.
    """

    name: str
    parse: Callable[[str, Mapping[str, Any]], T]
    dump: Callable[[T], dict[str, Any]]
    first_values: Callable[[], Mapping[str, T]]
    check: Callable[["SettingsSnapshot", date], None]
    partition: str = SHOP
    max_settings: int = 500

    def fingerprint(self, value: T | None) -> str:
        """Return a short text that differs if the setting differs; '' for None."""
        if value is None:
            return ""
        content = json.dumps(self.dump(value), sort_keys=True)
        return sha256(content.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class SettingsSnapshot:
    """All settings of a partition at one moment. `revision` is the id of the last save; None before the first save."""

    revision: UUID | None
    stored: Mapping[str, Mapping[str, Mapping[str, Any]]]  # JSON, by the kind's name and the key
    _made: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def get_values(self, kind: SettingKind[T]) -> Mapping[str, T]:
        """Return the settings of a kind, keyed by their key, or the kind's first values if no setting was saved."""
        return self.compute(("values", kind.name), lambda: self._read(kind))

    def _read(self, kind: SettingKind[T]) -> Mapping[str, T]:
        stored = self.stored.get(kind.name)
        if not stored:
            return kind.first_values()
        return {key: kind.parse(key, value) for key, value in stored.items()}

    def compute(self, name: Hashable, make: Callable[[], Made]) -> Made:
        """Return the result of `make`, which is called only one time for this snapshot and `name`."""
        if name not in self._made:
            self._made[name] = make()
        return cast(Made, self._made[name])

    def with_values(self, kind: SettingKind[T], values: Mapping[str, T]) -> "SettingsSnapshot":
        """Return a snapshot in which the settings of one kind are replaced by `values`."""
        stored = {key: kind.dump(value) for key, value in values.items()}
        return SettingsSnapshot(self.revision, {**self.stored, kind.name: stored})
