"""The worker's jobs for conversations: following them after a crash, emptying labels, and deleting what is old or unused."""

from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import ngettext

from conversations.operations.attachments import PENDING_UPLOADS, sweep_attachments
from conversations.operations.deletion import delete_done, delete_trashed, finish_emptied
from conversations.operations.gaps import clear_gaps
from conversations.operations.messages import follow_conversation
from conversations.operations.pending import EMPTIED, PENDING
from conversations.rules import NOBODY
from jobs.registry import Job, describe_count

# The conversations that a run deletes; the next run goes on.
MAX_DELETED = 200
# A request that was about to empty a label has ended by then.
_GIVEN_UP_AFTER = timedelta(minutes=10)


def sweep_conversations(now: datetime) -> str:
    """Bring up to date what a crash has left behind conversations, and delete what has been in a trash for 30 days."""
    with PENDING.sweep(now) as sweep:
        for rows in sweep.groups("conversation_id"):
            conversation_id = rows[0].conversation_id
            with sweep.handle(rows, conversation_id):
                for user_id in {row.user_id for row in rows} - {NOBODY}:
                    delete_trashed(user_id, conversation_id, now)
                follow_conversation(conversation_id)
    return describe_count(
        ngettext(
            "%(count)s conversation followed", "%(count)s conversations followed", sweep.count
        ),
        sweep.count,
    )


def empty_labels(now: datetime) -> str:
    """Delete the copies under labels that were emptied or deleted."""
    with EMPTIED.sweep(now) as sweep:
        for rows in sweep.groups("label_id"):
            with sweep.handle(rows, rows[0].label_id):
                is_recent = rows[0].minute > now - _GIVEN_UP_AFTER
                if not finish_emptied(rows[0], now) and is_recent:
                    sweep.keep(rows)
    return describe_count(
        ngettext("%(count)s label emptied", "%(count)s labels emptied", sweep.count), sweep.count
    )


def delete_old(now: datetime) -> str:
    """Delete conversations that have been done for CONVERSATION_MONTHS, the oldest first."""
    count = delete_done(now - timedelta(days=365 * settings.CONVERSATION_MONTHS // 12), MAX_DELETED)
    return describe_count(
        ngettext("%(count)s conversation deleted", "%(count)s conversations deleted", count), count
    )


def tidy_labels(now: datetime) -> str:
    """Delete the gaps that moved conversations have left under the shop's labels."""
    clear_gaps(now)
    return ""


JOBS = [
    Job(
        PENDING.job,
        timedelta(seconds=20),
        sweep_conversations,
        normal_lag=PENDING.max_write_delay + timedelta(minutes=1),
        idle_every=timedelta(minutes=2),
    ),
    Job(
        EMPTIED.job,
        timedelta(seconds=30),
        empty_labels,
        normal_lag=EMPTIED.max_write_delay + timedelta(minutes=2),
        idle_every=timedelta(minutes=2),
    ),
    Job("old conversations", timedelta(minutes=10), delete_old, idle_every=timedelta(hours=1)),
    Job("gaps under labels", timedelta(hours=1), tidy_labels),
    Job(
        PENDING_UPLOADS.job,
        timedelta(minutes=10),
        sweep_attachments,
        normal_lag=PENDING_UPLOADS.max_write_delay + timedelta(hours=1),
        idle_every=timedelta(hours=1),
    ),
]
