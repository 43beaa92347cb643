"""The worker's job for the test bank: it sends webhooks to the shop, as a real bank would."""

import logging
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from urllib.request import HTTPErrorProcessor, Request, build_opener

from django.conf import settings
from django.utils.translation import ngettext

from demo.testbank import operations, queries
from demo.testbank.gateway import SIGNATURE_HEADER, make_signature_header
from jobs.leases import get_position, save_position
from jobs.minutes import MINUTE, floor_to_minute, minutes_between
from jobs.registry import Job, describe_count
from jobs.rows import guard_row

log = logging.getLogger(__name__)

JOB_NAME = "test bank"
# The seconds within which a shop must answer a webhook.
ANSWER_SECONDS = 10
# A webhook may be queued late for its minute. So each minute is read repeatedly for this long.
_LATEST = timedelta(minutes=5)


class _AsItIs(HTTPErrorProcessor):
    """Returns every HTTP answer unchanged: the bank follows no redirects, and a refusal is no error."""

    def http_response(self, request: Request, response: object) -> object:
        return response

    https_response = http_response


def run_webhook_job(now: datetime) -> str:
    """Send the due webhooks. A webhook that the shop does not accept is sent again later. Return a line about their number."""
    if not (settings.DEMO or settings.DEBUG):
        return ""
    was = get_position(JOB_NAME)
    first = datetime.fromisoformat(was) if was else now - timedelta(hours=1)
    sent = send_due_webhooks(minutes_between(first, now), now)
    reached = floor_to_minute(now - _LATEST).isoformat()
    if reached != was:
        save_position(JOB_NAME, reached)
    return describe_count(ngettext("%(count)s notice sent", "%(count)s notices sent", sent), sent)


def has_webhooks(now: datetime) -> bool:
    """Return whether a webhook of this minute is due; a run finds the others. Raises CassandraUnavailable."""
    is_bank_here = settings.DEMO or settings.DEBUG
    return is_bank_here and any(
        row.due_at <= now for row in queries.list_webhooks([floor_to_minute(now)])
    )


def send_due_webhooks(minutes: list[datetime], now: datetime) -> int:
    """Send the due webhooks of these minutes, and return the number that the shop accepted. Raises CassandraUnavailable."""
    taken = 0
    for row in queries.list_webhooks(minutes):
        if row.due_at <= now:
            with guard_row(
                row.url, partial(operations.record_webhook_attempt, row, accepted=False, now=now)
            ):
                answered = post_webhook(row.url, row.body.encode())
                operations.record_webhook_attempt(row, answered, now)
                taken += answered
    return taken


def post_webhook(url: str, body: bytes) -> bool:
    """Post a signed webhook, and return whether the shop answers with a 2xx status."""
    if not url.startswith(("http://", "https://")):
        return True  # the payment has no webhook address
    headers = {SIGNATURE_HEADER: make_signature_header(body), "Content-Type": "application/json"}
    request = Request(url, body, headers, method="POST")  # noqa: S310 it is looked at above
    try:
        with build_opener(_AsItIs).open(request, timeout=ANSWER_SECONDS) as response:
            status = int(response.status)
    except (OSError, HTTPException) as away:
        log.info("the shop accepts no webhook: %s: %s", url, away)
        return False
    return status // 100 == HTTPStatus.OK // 100


JOBS = [
    Job(
        JOB_NAME,
        timedelta(seconds=10),
        run_webhook_job,
        normal_lag=_LATEST + MINUTE,
        idle_every=timedelta(minutes=1),
        has_work=has_webhooks,
    )
]
