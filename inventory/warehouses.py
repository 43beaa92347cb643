"""The warehouses, as staff set them, sorted as orders take from them.

A closed warehouse receives no new stock. Its units are still sold, after the units of all open ones, so no unit is lost.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from inventory.entities import BACKORDER_WAREHOUSE
from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot
from shop_settings.queries import get_settings

# Bounded, because an order is planned over all combinations of warehouses (inventory.allocation).
MAX_WAREHOUSES = 10
# Keys that no warehouse may have, because an order's allocations use them otherwise.
RESERVED_KEYS = frozenset({BACKORDER_WAREHOUSE, "take"})


@dataclass(frozen=True)
class Warehouse:
    """A place with stock. `key` is its id in all tables and never changes; orders take from the lowest `position` first."""

    key: str
    name: str
    country: str
    position: int
    is_open: bool = True


def _parse(key: str, value: Mapping[str, Any]) -> Warehouse:
    return Warehouse(key, value["name"], value["country"], value["position"], value["is_open"])


def _dump(warehouse: Warehouse) -> dict[str, Any]:
    value = asdict(warehouse)
    del value["key"]
    return value


def list_first_warehouses() -> dict[str, Warehouse]:
    """Return the warehouses of a new shop, keyed by their keys."""
    first = (Warehouse("berlin", "Berlin", "DE", 0), Warehouse("cork", "Cork", "IE", 1))
    return {each.key: each for each in first}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that at least one warehouse is open, that there are not too many, and that the names of warehouses differ."""
    found = snapshot.get_values(WAREHOUSE)
    if not any(each.is_open for each in found.values()):
        raise SettingRefused(
            _("One warehouse has to stay open. Open another one first."), "is_open"
        )
    if len(found) > MAX_WAREHOUSES:
        raise SettingRefused(_("There can be %(most)d warehouses.") % {"most": MAX_WAREHOUSES})
    if taken := RESERVED_KEYS & found.keys():
        raise SettingRefused(
            _("A warehouse can’t be called %(name)s.") % {"name": min(taken)}, "name"
        )
    names = [each.name.casefold() for each in found.values()]
    if len(set(names)) < len(names):
        raise SettingRefused(_("Another warehouse has this name already."), "name")


WAREHOUSE = SettingKind("warehouse", _parse, _dump, list_first_warehouses, _check)


def sort_warehouses(snapshot: SettingsSnapshot) -> tuple[Warehouse, ...]:
    """Return all warehouses, sorted as orders take units from them; closed warehouses come last."""
    found = snapshot.get_values(WAREHOUSE).values()
    return tuple(sorted(found, key=lambda each: (not each.is_open, each.position, each.key)))


def list_warehouses() -> tuple[str, ...]:
    """Return the keys of all warehouses, sorted as orders take units from them. Raises CassandraUnavailable."""
    snapshot = get_settings()
    return snapshot.compute(
        "warehouses", lambda: tuple(each.key for each in sort_warehouses(snapshot))
    )


def find_warehouse_name(key: str) -> str:
    """Return a warehouse's name, or its key if it no longer exists. Raises CassandraUnavailable."""
    found = get_settings().get_values(WAREHOUSE).get(key)
    return found.name if found else key.capitalize()


def find_warehouse_key(typed: str) -> str:
    """Return the key of the warehouse whose key or name was typed; "" for none. Raises CassandraUnavailable."""
    found = get_settings().get_values(WAREHOUSE)
    meant = typed.strip()
    if meant in found:
        return meant
    names = {each.name.casefold(): key for key, each in found.items()}
    return names.get(meant.casefold()) or (meant.lower() if meant.lower() in found else "")


def list_open_warehouses() -> tuple[Warehouse, ...]:
    """Return the warehouses that receive new stock, as sorted by `list_warehouses`. Raises CassandraUnavailable."""
    return tuple(each for each in sort_warehouses(get_settings()) if each.is_open)


def list_stock_locations() -> tuple[str, ...]:
    """Return the keys under which units are stored: the warehouses and BACKORDER_WAREHOUSE. Raises CassandraUnavailable."""
    return (*list_warehouses(), BACKORDER_WAREHOUSE)
