"""The class for a kind of settings, and the snapshot of all settings."""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, replace
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
    `unversioned` names fields that no form of the setting has: their changes make no form stale, and saving a form keeps them.
    """

    name: str
    parse: Callable[[str, Mapping[str, Any]], T]
    dump: Callable[[T], dict[str, Any]]
    first_values: Callable[[], Mapping[str, T]]
    check: Callable[["SettingsSnapshot", date], None]
    partition: str = SHOP
    max_settings: int = 500
    unversioned: tuple[str, ...] = ()

    def fingerprint(self, value: T | None) -> str:
        """Return a short text that differs if a field of the setting differs, except `unversioned`; '' for None."""
        if value is None:
            return ""
        dumped = self.dump(value)
        versioned = {name: each for name, each in dumped.items() if name not in self.unversioned}
        content = json.dumps(versioned, sort_keys=True)
        return sha256(content.encode()).hexdigest()[:16]

    def keep_unversioned(self, before: T | None, value: T) -> T:
        """Return `value` with the `unversioned` fields of the setting that it replaces."""
        if before is None or not self.unversioned:
            return value
        kept = {name: getattr(before, name) for name in self.unversioned}
        return cast(T, replace(cast(Any, value), **kept))


def pick_fields(entity_class: type[Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that a dataclass knows. A later version of the shop, taken back since, may have stored further ones."""
    names = {each.name for each in fields(entity_class)}
    return {name: each for name, each in value.items() if name in names}


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
