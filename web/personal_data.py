"""Exports and erases a person's data, by the `privacy.py` of each app.

Each model declares in `__personal_data__` whose data it holds: `{"columns": ("user_id",), "on_erase": "deleted"}`, with a `why` for
rows that stay; or None if it holds no personal data. A test fails for a model without this declaration, and docs/data-model.md
prints it. An app with personal data has a `privacy.py` with these functions:

    export_personal_data(person) -> dict      returns the app's data about the person, in the types that JSON has
    erase_personal_data(person, now)          erases the app's data; raises ErasureRefused while some data have to stay
    list_erasure_obstacles(person) -> list    optional: returns why the person cannot be erased now, in sentences for the person
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from types import ModuleType
from typing import Any
from uuid import UUID, uuid5

from moneyed import Money

from web.app_modules import find_app_modules

# The event of the last mail to an erased person.
FAREWELL_EVENT = "erased"


class ErasureRefused(Exception):
    """Some data of a person cannot be erased yet. The text is the reason."""


@dataclass(frozen=True)
class DataSubject:
    """A person with an account. `email` is their verified address."""

    user_id: UUID
    email: str
    name: str
    role: str = ""
    demo: bool = False  # a demo shop's login, which belongs to no person

    @property
    def farewell_mail_id(self) -> UUID:
        """The id of the mail that confirms the erasure."""
        return uuid5(self.user_id, FAREWELL_EVENT)


def list_privacy_modules() -> list[ModuleType]:
    """Return the privacy.py modules of all apps. An app that builds on another app comes before it."""
    return list(find_app_modules("privacy").values())[::-1]


def export_personal_data(person: DataSubject) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each app's name and its data about a person. Raises CassandraUnavailable."""
    for module in reversed(list_privacy_modules()):
        yield (
            module.__name__.rpartition(".")[0].rpartition(".")[2],
            module.export_personal_data(person),
        )


def erase_personal_data(person: DataSubject, now: datetime) -> None:
    """Erase a person in all apps. May be repeated after an error. Raises ErasureRefused, CassandraUnavailable."""
    for module in list_privacy_modules():
        module.erase_personal_data(person, now)


def list_erasure_obstacles(person: DataSubject) -> list[str]:
    """Return the reasons why a person cannot be erased now, in sentences. Raises CassandraUnavailable."""
    return [
        sentence
        for module in list_privacy_modules()
        if hasattr(module, "list_erasure_obstacles")
        for sentence in module.list_erasure_obstacles(person)
    ]


class PersonalDataEncoder(json.JSONEncoder):
    """Writes times in ISO 8601, and money as amount and currency."""

    def default(self, value: Any) -> Any:
        """Return the value in a type that JSON has. Raises TypeError for other types."""
        if isinstance(value, Money):
            amount = value.amount.quantize(Decimal(1) / value.currency.sub_unit)
            return {"amount": str(amount), "currency": value.currency.code}
        if isinstance(value, datetime | date):
            return value.isoformat()
        if isinstance(value, UUID):
            return str(value)
        return super().default(value)
