"""The worker's job for draft orders."""

from datetime import datetime, timedelta

from django.utils.translation import ngettext

from drafts.operations import mail_pending_offers
from jobs.registry import Job, describe_count


def mail_offers(now: datetime) -> str:
    """Mail the offers that were not mailed because a process has crashed. Return a line about the number of offers."""
    count = mail_pending_offers(now)
    return describe_count(
        ngettext("%(count)s offer mailed", "%(count)s offers mailed", count), count
    )


JOBS = [Job("offers", timedelta(minutes=1), mail_offers, idle_every=timedelta(minutes=5))]
