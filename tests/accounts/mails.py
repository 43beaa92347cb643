"""Reads the mail that the shop has written."""

import re

from django.conf import settings

from cassandra_db import Row
from mail import queries


def list_mails_to(email: str) -> list[Row]:
    """Return what was written to an address, letter for letter, the first one first."""
    return sorted(
        (row for row in queries.list_recipient_mails(email) if row.recipient == email),
        key=lambda row: row.queued_at,
    )


def find_link(text: str, page: str = "/account/") -> str:
    """Return the path of the first link in a mail that begins as this page's."""
    match = re.search(rf"{re.escape(settings.PUBLIC_URL)}({re.escape(page)}\S+)", text)
    assert match
    return match[1]
