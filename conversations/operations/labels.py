"""Writes of a mailbox's labels.

An emptied label gets a new id, so its conversations are no longer under it at once. The worker then deletes the partitions of the
old id. Rows of conversations that name an id without a label count for nothing.
"""

from dataclasses import replace
from uuid import UUID, uuid4

from cassandra_db import (
    SEND_AGAIN,
    CassandraUnavailable,
    Statement,
    apply_batch,
    conditional_write,
    current_time,
    read,
    retry_attempts,
)
from conversations.entities import Label
from conversations.errors import LabelNameTaken, NoSuchLabel, TooManyLabels
from conversations.operations.pending import EMPTIED
from conversations.queries import get_labels
from conversations.rules import EMPTIABLE, LABEL_COLORS, MAX_OWN_LABELS, TRASH

MAX_ATTEMPTS = 30

INSERT_LABEL = conditional_write(
    "M3",
    """INSERT INTO labels_by_user (user_id, kind, key, label_id, name, color, count, unread_count, first_year)
       VALUES (:user_id, 'label', :key, :label_id, :name, :color, :count, :unread_count, :first_year) IF NOT EXISTS""",
)
# Labels are created one after the other, so that each creation counts those before it.
NEWEST_LABEL = read(
    "M3", "SELECT DISTINCT user_id, newest_label_id FROM labels_by_user WHERE user_id = :user_id"
)
TAKE_TURN = conditional_write(
    "M3",
    "UPDATE labels_by_user SET newest_label_id = :label_id WHERE user_id = :user_id IF newest_label_id = :seen",
)
EDIT_LABEL = conditional_write(
    "M3",
    """UPDATE labels_by_user SET name = :name, color = :color
       WHERE user_id = :user_id AND kind = 'label' AND key = :key IF label_id = :label_id""",
)
TAKE_AWAY = conditional_write(
    "M3",
    """DELETE FROM labels_by_user WHERE user_id = :user_id AND kind = 'label' AND key = :key
       IF label_id = :label_id AND count = :count AND unread_count = :unread_count AND first_year = :first_year""",
)
EMPTY_LABEL = conditional_write(
    "M6",
    """UPDATE labels_by_user SET label_id = :new_id, count = 0, unread_count = 0, first_year = :year
       WHERE user_id = :user_id AND kind = 'label' AND key = :key IF label_id = :label_id AND first_year = :first_year""",
)
DELETE_LABEL = conditional_write(
    "M6",
    """DELETE FROM labels_by_user WHERE user_id = :user_id AND kind = 'label' AND key = :key
       IF label_id = :label_id AND first_year = :first_year""",
)


def _get_label(user_id: UUID, label_id: UUID, *fixed_keys: str) -> Label:
    """Return a label of the mailbox's own, or one of these fixed ones. Raises NoSuchLabel."""
    label = get_labels(user_id).get(label_id)
    if label is None or (label.is_fixed and label.key not in fixed_keys):
        raise NoSuchLabel
    return label


def _check(name: str, color: str) -> str:
    name = " ".join(name.split())
    if not name or color not in LABEL_COLORS:
        raise ValueError("a label needs a name and a colour of LABEL_COLORS")
    return name


def create_label(user_id: UUID, name: str, color: str) -> Label:
    """Create a label in a mailbox; return it. Raises LabelNameTaken, TooManyLabels, CassandraUnavailable."""
    name = _check(name, color)
    label = Label(uuid4(), name, color, 0, 0, current_time().year, key=name.casefold())
    created = INSERT_LABEL.bind(**_columns(user_id, label))
    for _ in retry_attempts(MAX_ATTEMPTS):
        newest = NEWEST_LABEL.one(user_id=user_id)
        own = {each.key: each for each in get_labels(user_id).values() if not each.is_fixed}
        if label.key in own and own[label.key].label_id != label.label_id:
            raise LabelNameTaken
        if label.key not in own and len(own) >= MAX_OWN_LABELS:
            raise TooManyLabels
        seen = newest.newest_label_id if newest else None
        turn = TAKE_TURN.bind(user_id=user_id, label_id=label.label_id, seen=seen)
        if label.key in own or apply_batch(turn, created, if_lost=SEND_AGAIN):
            return label
    raise CassandraUnavailable(f"the labels of mailbox {user_id} keep changing")


def _columns(user_id: UUID, label: Label) -> dict[str, object]:
    return {
        "user_id": user_id,
        "key": label.key,
        "label_id": label.label_id,
        "name": label.name,
        "color": label.color,
        "count": label.count,
        "unread_count": label.unread_count,
        "first_year": label.first_year,
    }


def edit_label(user_id: UUID, label_id: UUID, name: str, color: str) -> Label:
    """Change a label's name and colour; return the label. Raises LabelNameTaken, NoSuchLabel, CassandraUnavailable."""
    name = _check(name, color)
    for _ in retry_attempts(MAX_ATTEMPTS):
        label = _get_label(user_id, label_id)
        edited = replace(label, name=name, color=color, key=name.casefold())
        if edited == label:
            return label
        ids = {"user_id": user_id, "key": label.key, "label_id": label_id}
        if edited.key == label.key:
            done = EDIT_LABEL.apply(if_lost=SEND_AGAIN, **ids, name=name, color=color)
        else:
            taken = TAKE_AWAY.bind(
                **ids,
                count=label.count,
                unread_count=label.unread_count,
                first_year=label.first_year,
            )
            inserted = INSERT_LABEL.bind(**_columns(user_id, edited))
            done = apply_batch(taken, inserted, if_lost=SEND_AGAIN)
            if not done and any(
                getattr(row, "key", None) == edited.key and row.label_id not in (None, label_id)
                for row in done.rows
            ):
                raise LabelNameTaken
        if done:
            return edited
    raise CassandraUnavailable(f"label {label_id} keeps changing")


def empty_label(user_id: UUID, label_id: UUID) -> None:
    """Take a label off all its conversations. Emptying the trash deletes them from the mailbox.

    A repeat, which names the old id, raises NoSuchLabel. Raises NoSuchLabel, CassandraUnavailable.
    """
    label = _get_label(user_id, label_id, *EMPTIABLE)
    _change_id(user_id, label, EMPTY_LABEL, new_id=uuid4(), year=current_time().year)


def delete_label(user_id: UUID, label_id: UUID) -> None:
    """Delete a label, and take it off all its conversations. Raises NoSuchLabel, CassandraUnavailable."""
    _change_id(user_id, _get_label(user_id, label_id), DELETE_LABEL)


def _change_id(user_id: UUID, label: Label, statement: Statement, **values: object) -> None:
    for _ in retry_attempts(MAX_ATTEMPTS):
        if not label.is_stored:
            return
        EMPTIED.note(
            user_id=user_id,
            label_id=label.label_id,
            is_trash=label.key == TRASH,
            first_year=label.first_year,
        )
        if statement.apply(
            if_lost=SEND_AGAIN,
            user_id=user_id,
            key=label.key,
            label_id=label.label_id,
            first_year=label.first_year,
            **values,
        ):
            return
        # It was renamed, or has an older conversation now; or an answer was lost.
        found = get_labels(user_id).get(label.label_id)
        if found is None:
            return
        label = found
    raise CassandraUnavailable(f"label {label.label_id} keeps changing")
