"""Files of customers: each gets an account without a password. Customers who have an account stay as they are."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.addresses import FIELDS, normalize_phone
from accounts.errors import EmailTaken, NoSuchUser
from accounts.forms import AddressFields
from accounts.operations import MAX_ADDRESSES, add_customer_note
from accounts.operations.customer_imports import ImportedCustomer, import_customer, invite_customer
from accounts.queries import email_key, prefetch_user_by_email, user_with_email
from cassandra_db import Chain, current_time
from mail.forms import email_field
from pricing.delivery import get_default_country
from reviews.operations import stop_requests
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import (
    CellField,
    Decision,
    RowForm,
    Values,
    line_field,
    plan_forms,
    read_forms,
)
from spreadsheets.typed_values import parse_moment, parse_yes_no, split_values

_LOCATED = ("street", "postal_code", "city")


class CustomerForm(RowForm):
    """A line of a file of customers: a customer, with an address or without. Further lines have further addresses."""

    examples = {
        "email": "ada@example.com",
        "name": "Ada Lovelace",
        "phone": "+353 1 234 5678",
        "street": "Am Markt 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country": "DE",
        "tags": "wholesale, regular",
        "consent": "yes",
        "consent_at": "2025-03-01",
        "invite": "yes",
    }
    email = email_field()
    name = line_field(gettext_lazy("The full name, or use the next two columns."))
    first_name, last_name = line_field(), line_field()
    phone = CellField(normalize_phone, empty="", most=30)
    street = line_field(
        gettext_lazy("Street and number. Several lines with one email are several addresses.")
    )
    street2 = line_field(gettext_lazy("Company, flat or floor."))
    # Shopify puts an apostrophe before it.
    postal_code = CellField(lambda text: text.lstrip("'"), empty="", most=20)
    city = line_field("", 80)
    area = line_field(gettext_lazy("The province or county, where addresses have one."), 80)
    country = line_field(gettext_lazy("Two letters, such as DE. Empty: the shop’s own country."), 2)
    tags = CellField(
        split_values,
        empty=(),
        most=800,
        help_text=gettext_lazy("Separated by commas. They become a note on the customer."),
    )
    consent = CellField(
        parse_yes_no,
        help_text=gettext_lazy(
            "Whether the customer agreed to marketing emails: yes or no. With no, the shop asks for no reviews."
        ),
    )
    consent_at = CellField(
        parse_moment, most=40, help_text=gettext_lazy("When the customer agreed.")
    )
    invite = CellField(
        parse_yes_no,
        empty=False,
        help_text=gettext_lazy("Yes: email a link to set a password, once."),
    )

    def clean(self) -> dict[str, Any]:
        """Require a name, and check the address by its country's rules."""
        cleaned = super().clean() or self.cleaned_data
        parts = (cleaned.get("first_name"), cleaned.get("last_name"))
        cleaned["name"] = cleaned.get("name") or " ".join(filter(None, parts))[:100]
        if not cleaned["name"] and "name" not in self.errors:
            self.add_error("name", _("Enter a name."))
        if any(cleaned.get(name) for name in _LOCATED):
            country = (cleaned.get("country") or get_default_country()).upper()
            form = AddressFields(
                {**{name: cleaned.get(name) or "" for name in FIELDS}, "country": country}
            )
            for name, errors in form.errors.items():
                if name not in self.errors:
                    self.add_error(name, list(errors))
            cleaned["address"] = None if form.errors else form.cleaned_address()
        return cleaned


def customer_key(cells: dict[str, str]) -> str:
    """Return the key by which neighbouring lines belong to one customer."""
    return email_key(cells["email"])


def plan_customers(rows: Sequence[FileRow], task_id: UUID, now: datetime) -> list[PlannedRow]:
    """Return the plans for the rows of a file of customers. Raises CassandraUnavailable."""

    def start(values: Sequence[Values]) -> Chain:
        return prefetch_user_by_email(values[0]["email"])

    return plan_forms(rows, CustomerForm, start, _decide)


def _decide(row: FileRow, values: Sequence[Values], found: Chain) -> Decision:
    if len(_list_addresses(values)) > MAX_ADDRESSES:
        text = _("A customer can have %(most)d addresses.") % {"most": MAX_ADDRESSES}
        return [Fault(row.line, "street", text)]
    known = user_with_email(found, values[0]["email"])
    return ("unchanged", str(known)) if known else ("new", values[0]["name"])


def _list_addresses(values: Sequence[Values]) -> list[Any]:
    return list(dict.fromkeys(each["address"] for each in values if each.get("address")))


def apply_customer(task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Create a customer's account, once. Return the result, and the reason for it.

    Raises CellRefused, and CassandraUnavailable and UnknownOutcome; the caller then repeats the call.
    """
    values = read_forms(row, CustomerForm)
    first, now = values[0], current_time()
    user_id = uuid5(task.task_id, email_key(first["email"]))
    try:
        member = import_customer(
            ImportedCustomer(
                first["email"], first["name"], first["phone"], _list_addresses(values)
            ),
            user_id,
            now,
        )
        if note := _write_note(first):
            add_customer_note(user_id, uuid5(user_id, "import"), note, author=_("Import"), now=now)
    except EmailTaken:
        return "changed", _("The customer has created an account since the file was checked.")
    except NoSuchUser:
        return "changed", _("The account was deleted.")
    if first["consent"] is False:
        stop_requests(first["email"], now)
    if first["invite"]:
        invite_customer(member, task.task_id, now)
    return "done", ""


def _write_note(values: Values) -> str:
    """Return what the former shop knew of a customer, in words."""
    parts = []
    if values["tags"]:
        parts.append(_("Tags in the former shop: %(tags)s") % {"tags": ", ".join(values["tags"])})
    if values["consent"] is not None:
        words = (
            _("Marketing emails: agreed") if values["consent"] else _("Marketing emails: refused")
        )
        since = values["consent_at"]
        parts.append(f"{words} ({date_format(localtime(since), 'j F Y')})" if since else words)
    return "\n".join(parts)
