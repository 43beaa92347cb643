"""Files of customers: each gets an account without a password. Customers who have an account stay as they are."""

from collections.abc import Mapping, Sequence
from uuid import UUID, uuid5

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.addresses import Address, address_from_fields
from accounts.errors import EmailTaken, NoSuchUser
from accounts.forms import AddressFields
from accounts.operations import (
    MAX_ADDRESSES,
    add_customer_note,
    fill_address_book,
    password_reset_link,
    register_user,
)
from accounts.operations.passwords import INVITATION_SECONDS
from accounts.queries import email_key, find_user_by_email
from cassandra_db import current_time
from mail.forms import email_field
from mail.operations import queue_mail
from pricing.delivery import get_default_country
from reviews.operations import stop_requests
from spreadsheets.entities import Fault, FileRow, PlannedRow, SpreadsheetTask
from spreadsheets.row_forms import CellField, Decision, RowForm, Values, line_field, read_forms
from spreadsheets.typed_values import parse_yes_no, split_values

_LOCATED = ("street", "postal_code", "city", "area")


class CustomerForm(AddressFields, RowForm):
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
        "invite": "yes",
    }
    email = email_field()
    email.help_text = _("Several lines with one email are several addresses of a customer.")
    first_name = line_field(_("The name can be in two columns."))
    last_name = line_field()
    tags = CellField(
        split_values,
        empty=(),
        most=800,
        help_text=_("Separated by commas. They become a note on the customer."),
    )
    consent = CellField(
        parse_yes_no,
        help_text=_(
            "Whether the customer agreed to marketing emails: yes or no. With no, the shop asks for no reviews."
        ),
    )
    invite = CellField(
        parse_yes_no, empty=False, help_text=_("Yes: email a link to set a password, once.")
    )

    def __init__(self, cells: Mapping[str, str]) -> None:
        has_address = any(cells.get(name) for name in _LOCATED)
        country = cells.get("country", "").strip().upper() if has_address else ""
        names = (cells.get(name, "") for name in ("first_name", "last_name"))
        # Shopify puts an apostrophe before postcodes.
        postal_code = cells.get("postal_code", "").lstrip("'")
        super().__init__(
            {
                **cells,
                "name": cells.get("name") or " ".join(names),
                "country": country or get_default_country(),
                "postal_code": postal_code,
            }
        )
        if not has_address:
            for name in _LOCATED:
                del self.fields[name]


def decide_customer(row: FileRow, values: Sequence[Values]) -> Decision:
    """Return what a row does. Raises CassandraUnavailable."""
    if len(_list_addresses(values)) > MAX_ADDRESSES:
        text = gettext("A customer can have %(most)d addresses.") % {"most": MAX_ADDRESSES}
        return [Fault(row.line, "street", text)]
    known = find_user_by_email(values[0]["email"])
    return ("unchanged", str(known)) if known else ("new", values[0]["name"])


def _list_addresses(values: Sequence[Values]) -> list[Address]:
    located = (address_from_fields(each) for each in values if each.get("street"))
    return list(dict.fromkeys(located))


def apply_customer(task: SpreadsheetTask, row: PlannedRow, _mark: UUID) -> tuple[str, str]:
    """Create a customer's account, once, with addresses and a note. Raises CellRefused, CassandraUnavailable, UnknownOutcome."""
    values = read_forms(row, CustomerForm)
    first, now, email = values[0], current_time(), values[0]["email"]
    user_id = uuid5(task.task_id, email_key(email))
    note = []
    if first["tags"]:
        note.append(
            gettext("Tags in the former shop: %(tags)s") % {"tags": ", ".join(first["tags"])}
        )
    if first["consent"] is not None:
        yes, no = gettext("Marketing emails: agreed"), gettext("Marketing emails: refused")
        note.append(yes if first["consent"] else no)
    try:
        member = register_user(email, first["name"], None, now, user_id=user_id)
        fill_address_book(user_id, first["phone"], _list_addresses(values))
        if note:
            note_id, text = uuid5(user_id, "import"), "\n".join(note)
            add_customer_note(user_id, note_id, text, author=gettext("Import"), now=now)
    except EmailTaken:
        return "changed", gettext("The customer has created an account since the file was checked.")
    except NoSuchUser:
        return "changed", gettext("The account was deleted.")
    if first["consent"] is False:
        stop_requests(email, now)
    if first["invite"]:
        context = {"name": member.name, "url": password_reset_link(member, INVITATION_SECONDS)}
        queue_mail(user_id, "invitation", email, "invitation", context, now)
    return "done", ""
