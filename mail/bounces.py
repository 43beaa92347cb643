"""Delivery reports: a mail server's message about a mail that it could not deliver (RFC 3464)."""

import re
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message

from mail.fates import shorten_failure

MAX_REPORT_BYTES = 1_000_000  # the rest of a report is the returned mail, and is not read
# The server's policy, for example against spam, rejects the sender or this mail. The recipient's address may be fine.
_POLICY = "5.7."
_STATUS = re.compile(r"[245]\.\d{1,3}\.\d{1,3}")


@dataclass(frozen=True)
class DeliveryReport:
    """A mail server's report: whether the mail failed for good, whether its address cannot get mail, and the server's answer."""

    is_hard: bool
    is_address_dead: bool
    failure: str


def read_delivery_report(raw: bytes) -> DeliveryReport | None:
    """Return the delivery report in a message; None if the message has no report, or the report names no failure.

    The recipient in the report is ignored, because anybody can write one.
    """
    groups = [
        group
        for part in message_from_bytes(raw).walk()
        if part.get_content_type() == "message/delivery-status"
        for group in part.walk()
        if group is not part and group["Status"]
    ]
    reports = [_read_group(group) for group in groups]
    found = [report for report in reports if report]
    # A mail has one recipient, so a permanent failure counts more than another server's report of a delay.
    return max(found, key=lambda report: report.is_hard, default=None)


def _read_group(group: Message) -> DeliveryReport | None:
    match = _STATUS.search(str(group["Status"]))
    action = str(group["Action"] or "").strip().casefold()
    if not match or action not in ("failed", "delayed"):
        return None
    status = match[0]
    is_hard = action == "failed" and status.startswith("5.")
    words = str(group["Diagnostic-Code"] or "").partition(";")[2] or str(group["Status"])
    return DeliveryReport(
        is_hard, is_hard and not status.startswith(_POLICY), shorten_failure(f"{status} {words}")
    )
