"""Changing the tags of an order, by an event like any other change."""

from collections.abc import Iterable
from contextlib import nullcontext
from datetime import datetime
from uuid import UUID

from cassandra_db import write
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import TooManyTags
from orders.lifecycle.transitions import Transition
from orders.operations.effects import transition_as_planned
from orders.operations.transitions import submit_under_way
from orders.queries import ALL_TAGS
from orders.tags import MAX_TAGS, normalize_tag

INSERT_RECENT_TAG = write("Q15", "INSERT INTO recent_order_tags (scope, tag) VALUES (:scope, :tag)")


def change_tags(
    order: Order,
    add: Iterable[str],
    remove: Iterable[str],
    *,
    actor: str,
    submit_id: UUID | None = None,
    now: datetime,
) -> Order:
    """Add tags to an order and remove others (a tag in both is removed); return the order, unchanged if nothing differs.

    The change happens once for each `submit_id`; None uses the submit under way (orders.submits). `now` is in UTC.
    Raises InvalidTag, TooManyTags, OrderChanged if other writes keep changing the order, CassandraUnavailable.
    """
    # Tags to remove are only compared, because they may be older than today's rules.
    wanted, unwanted = {normalize_tag(tag) for tag in add}, {tag.casefold() for tag in remove}

    def plan(current: Order) -> Transition | None:
        if submit_id and any(event.submit_id == submit_id for event in current.events):
            return None
        tags = ({*current.tags} | wanted) - unwanted
        added, removed = sorted(tags.difference(current.tags)), sorted({*current.tags} - tags)
        if not added and not removed:
            return None
        if added and len(tags) > MAX_TAGS:
            raise TooManyTags(MAX_TAGS)
        return Transition(
            "tagged", actor=actor, at=now, details={"added": added, "removed": removed}
        )

    with submit_under_way(submit_id) if submit_id else nullcontext():
        tagged = transition_as_planned(order, plan)
    # A suggestion that is lost in a crash is written with the tag's next use.
    for tag in sorted(wanted - unwanted):
        INSERT_RECENT_TAG.run(scope=ALL_TAGS, tag=tag)
    return tagged
