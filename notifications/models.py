"""The tables of notifications."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB

_DAY = 24 * 3600


class NotificationByUser(Model):
    """N1, N2: what a member is told, newest first, and what of it they have seen.

    The id is the event's time and a hash of kind, reader and ids, so a repeat is the same row. A row has the event's timestamp, and
    expires 30 days after the event. The marks have the timestamp and the rest of the time of the notification that they name, so
    the later notification wins and no mark outlives what it is about.
    Bound: the events of 30 days, some 150 bytes each; 200 watched products drop once a day at most.
    Writer: notifications.operations.
    """

    __table_name__ = "notifications"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 30 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    notification_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    kind = columns.Text()
    ids = columns.Text()  # JSON: names and ids of what it is about
    read = columns.Boolean()
    digest_at = columns.DateTime()  # the digest that has it; null if none has
    seen_until = columns.TimeUUID(static=True)  # the newest one when the panel was last opened
    read_until = columns.TimeUUID(static=True)  # the newest one when all were marked as read


class PendingNotification(Model):
    """N1: subjects with events that the worker turns into notifications, by the minute in which they were announced.

    A row is written by the effects of an event, which are repeated after a crash, or before the event.
    Bound: the announcements of one minute, 120 bytes each.
    Writer: notifications.operations.
    """

    __table_name__ = "pending_notifications_by_minute"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("detail",),
        "on_erase": "expires",
        "why": "the worker deletes it within seconds; it has ids alone",
    }
    minute = columns.DateTime(partition_key=True)
    subject_id = columns.UUID(primary_key=True)
    source = columns.Text(primary_key=True)  # the app
    detail = columns.Text(primary_key=True)  # what else names the subject
    written = columns.BigInt()  # in microseconds since 1970


class DueDigest(Model):
    """N3: members who get a digest, by the quarter of an hour in which it is due.

    Bound: the members with news for one digest, 60 bytes each.
    Writer: notifications.operations.
    """

    __table_name__ = "due_digests_by_quarter"
    __partition_bytes__ = 60 * MB
    __options__ = {"default_time_to_live": 31 * _DAY, "gc_grace_seconds": _DAY}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "the worker deletes it within a day, and mails nobody who is erased",
    }
    quarter = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    digest_at = columns.DateTime(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970
