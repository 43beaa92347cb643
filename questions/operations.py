"""Writes of questions and answers.

A text's row in `questions_by_product` is authoritative. From it `follow_text` updates the staff's queue and queues mails; any
process may call it. A pending row is written before the text changes, so that the worker calls `follow_text` after a crash.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from cassandra.query import BoundStatement
from cassandra.util import uuid_from_time
from django.conf import settings
from django.urls import reverse

from accounts.queries import get_user
from cassandra_db import (
    REFUSED_MEANS_DONE,
    SEND_AGAIN,
    applied_if,
    apply_batch,
    conditional_write,
    current_microseconds,
    current_time,
    retry_attempts,
    truncate_to_milliseconds,
    write,
)
from catalogue.queries import get_product_at_quorum
from jobs.due_rows import DueRows
from mail.operations import MailOptions, queue_mail
from moderation.errors import NoSuchText, TextChanged
from moderation.operations import report_text as note_report
from moderation.operations import update_queue
from moderation.queries import NEWS_FOR
from moderation.states import HELD, PUBLISHED, REFUSED, UNANSWERED, WITHDRAWN
from moderation.texts import erased_id
from notifications.kinds import wants_mail
from notifications.links import unsubscribe_url
from notifications.operations import announce
from questions import queries
from questions.entities import PLACED, QUESTION, Text
from questions.errors import QuestionFull

# The number of times that an answer is tried while other people answer the same question.
MAX_ATTEMPTS = 20

CLAIM = conditional_write(
    "R6",
    """INSERT INTO questions_by_user (user_id, change_id, product_id, question_id, answer_id)
       VALUES (:user_id, :change_id, :product_id, :question_id, :answer_id) IF NOT EXISTS""",
)
FORGET_CLAIM = conditional_write(
    "R6",
    "DELETE FROM questions_by_user WHERE user_id = :user_id AND change_id = :change_id IF EXISTS",
)
INSERT_TEXT = conditional_write(
    "R6",
    """INSERT INTO questions_by_product (product_id, question_id, answer_id, user_id, body, name, is_shops, state, version,
       change_id, written_at, held_for, refusal, queued_at, decided_at, reporters)
       VALUES (:product_id, :question_id, :answer_id, :user_id, :body, :name, :is_shops, :state, :version,
       :change_id, :written_at, :held_for, :refusal, :queued_at, :decided_at, :reporters) IF NOT EXISTS""",
)
UPDATE_TEXT = conditional_write(
    "R6",
    """UPDATE questions_by_product SET user_id = :user_id, body = :body, name = :name, is_shops = :is_shops, state = :state,
       version = :version, change_id = :change_id, written_at = :written_at, held_for = :held_for, refusal = :refusal,
       queued_at = :queued_at, decided_at = :decided_at,
       reporters = :reporters
       WHERE product_id = :product_id AND question_id = :question_id AND answer_id = :answer_id IF version = :seen""",
)
# If two people answer at once, the write of one is refused; it counts the answers and is tried again.
NOTE_ANSWER = conditional_write(
    "R6",
    """UPDATE questions_by_product SET answers_id = :change_id
       WHERE product_id = :product_id AND question_id = :question_id AND answer_id = :question
       IF answers_id = :seen AND version > 0""",
)
INSERT_PENDING = write(
    "R6",
    """INSERT INTO pending_questions_by_period (period, product_id, question_id, answer_id, written)
       VALUES (:period, :product_id, :question_id, :answer_id, :written) USING TIMESTAMP :written""",
)
DELETE_PENDING = write(
    "R6",
    """DELETE FROM pending_questions_by_period USING TIMESTAMP :written
       WHERE period = :period AND product_id = :product_id AND question_id = :question_id AND answer_id = :answer_id""",
)
# Texts whose queue row or mail may be missing.
PENDING_TEXTS = DueRows(
    job="questions",
    label="text",
    select=queries.PENDING,
    insert=INSERT_PENDING,
    delete=DELETE_PENDING,
    column="period",
    length=timedelta(minutes=10),
)


def ask_question(
    product_id: UUID,
    user_id: UUID,
    body: str,
    *,
    name: str,
    held_for: str,
    change_id: UUID,
    now: datetime,
) -> Text:
    """Ask a question about a product; return it.

    If `held_for` has a reason, the question waits for the staff; otherwise it waits for an answer. A repeat with the same
    `change_id` asks nothing new. Raises CassandraUnavailable.
    """
    text = _new_text(product_id, user_id, body, name, change_id, now)
    return _add(replace(text, state=HELD if held_for else PUBLISHED, held_for=held_for))


def answer_question(
    question: Text,
    user_id: UUID,
    body: str,
    *,
    name: str,
    held_for: str,
    change_id: UUID,
    now: datetime,
    is_shops: bool = False,
) -> Text:
    """Answer a question, as the shop or as a buyer; return the answer. Its publication queues a mail to the asker.

    A repeat with the same `change_id` answers nothing new. Raises TextChanged if too many people answer at once. Also raises
    QuestionFull, NoSuchText, CassandraUnavailable.
    """
    text = _new_text(question.product_id, user_id, body, name, change_id, now)
    return _add(
        replace(
            text,
            answer_id=text.question_id,
            question_id=question.question_id,
            is_shops=is_shops,
            state=HELD if held_for else PUBLISHED,
            held_for=held_for,
        )
    )


def _new_text(
    product_id: UUID, user_id: UUID, body: str, name: str, change_id: UUID, now: datetime
) -> Text:
    return Text(
        product_id=product_id,
        question_id=uuid_from_time(now),
        answer_id=QUESTION,
        user_id=user_id,
        body=body,
        name=name,
        is_shops=False,
        state=PUBLISHED,
        version=1,
        change_id=change_id,
        written_at=truncate_to_milliseconds(now),
    )


def _add(text: Text) -> Text:
    """Write a new text; return it. If its form was sent before, the text gets the ids of the first submit."""
    CLAIM.apply(
        if_lost=REFUSED_MEANS_DONE,
        user_id=text.user_id,
        change_id=text.change_id,
        product_id=text.product_id,
        question_id=text.question_id,
        answer_id=text.answer_id,
    )
    claim = queries.find_claim(text.user_id, text.change_id)
    if claim:
        text = replace(text, question_id=claim.question_id, answer_id=claim.answer_id)
    text = _queued(text, text.written_at)
    mark_pending(text)
    if text.takes_place:
        _write_with_room(INSERT_TEXT.bind(**text.columns()), text, seen=None)
    else:
        INSERT_TEXT.apply(if_lost=REFUSED_MEANS_DONE, **text.columns())
    follow_text(text.product_id, text.question_id, text.answer_id)
    return queries.get_text(text.product_id, text.question_id, text.answer_id) or text


def _write_with_room(statement: BoundStatement, answer: Text, seen: int | None) -> None:
    """Write an answer if its question has room. `seen` is the answer's version, None for a new answer.

    Raises QuestionFull, NoSuchText, TextChanged, CassandraUnavailable.
    """
    question = {"product_id": answer.product_id, "question_id": answer.question_id}
    for _attempt in retry_attempts(MAX_ATTEMPTS):
        rows = {row.answer_id: row for row in queries.ANSWERS.all(**question)}
        present = rows.pop(answer.answer_id, None)
        if present and (seen is None or present.change_id == answer.change_id):
            return  # a repeated form, or a lost answer of the database
        if QUESTION not in rows:
            raise NoSuchText
        if (present.version if present else None) != seen:
            raise TextChanged
        asked = rows.pop(QUESTION)
        if sum(row.state in PLACED for row in rows.values()) >= queries.MAX_ANSWERS:
            raise QuestionFull
        note = NOTE_ANSWER.bind(
            **question, question=QUESTION, change_id=answer.change_id, seen=asked.answers_id
        )
        if apply_batch(statement, note, if_lost=SEND_AGAIN):
            return
    raise TextChanged


def _queued(text: Text, now: datetime) -> Text:
    if text.is_question and text.version == 1 and text.state == PUBLISHED:
        text = replace(text, held_for=UNANSWERED)
    return text.note_queued(now)


def withdraw_text(text: Text, *, change_id: UUID, now: datetime) -> Text:
    """Withdraw a question or an answer, and delete its words. Raises the errors of `change_text`."""

    def withdraw(text: Text) -> Text:
        return replace(text, state=WITHDRAWN, body="", held_for="", refusal="", reporters=())

    return change_text(text, withdraw, change_id=change_id, now=now)


def publish_text(text: Text, *, change_id: UUID, now: datetime) -> Text:
    """Publish a text. A question without an answer then waits for one, unless it did before. Raises the errors of `change_text`."""

    def publish(text: Text) -> Text:
        waits = text.is_question and text.held_for != UNANSWERED and not _is_answered(text)
        return replace(text.publish(now), held_for=UNANSWERED if waits else "")

    return change_text(text, publish, change_id=change_id, now=now)


def refuse_text(text: Text, reason: str, *, change_id: UUID, now: datetime) -> Text:
    """Refuse a text, and mail the writer the reason. Raises the errors of `change_text`."""
    return change_text(text, lambda text: text.refuse(reason, now), change_id=change_id, now=now)


def hold_text(text: Text, *, change_id: UUID, now: datetime) -> Text:
    """Undo the staff's decision about a text, and put the text back into the queue. Raises the errors of `change_text`."""
    return change_text(text, Text.hold, change_id=change_id, now=now)


def report_text(text: Text, reader_id: UUID, *, now: datetime) -> Text:
    """Store that a reader has reported a published text; return the text. Raises the errors of `change_text`."""

    def change(seen: Text, report: Callable[[Text], Text], change_id: UUID) -> Text:
        return change_text(seen, report, change_id=change_id, now=now)

    ids = text.product_id, text.question_id, text.answer_id
    return note_report(text, reader_id, change, lambda: queries.get_text(*ids))


def change_text(
    seen: Text, change: Callable[[Text], Text], *, change_id: UUID, now: datetime
) -> Text:
    """Change a text by `change`, if it has the version of `seen`; return the changed text.

    A repeat with the same `change_id` changes nothing. Raises TextChanged if the text has another version, and QuestionFull
    for an answer without room. Also raises NoSuchText, CassandraUnavailable.
    """
    ids = seen.product_id, seen.question_id, seen.answer_id
    before = queries.get_text(*ids)
    if before and before.change_id == change_id:
        follow_text(*ids)
        return before
    if before is None or before.state == WITHDRAWN:
        raise NoSuchText
    if before.version != seen.version:
        raise TextChanged
    changed = replace(change(before), version=before.version + 1, change_id=change_id)
    after = _queued(changed, truncate_to_milliseconds(now))
    mark_pending(after)
    update = UPDATE_TEXT.bind(**after.columns(), seen=before.version)
    if after.takes_place and not before.takes_place:
        _write_with_room(update, after, before.version)
        follow_text(*ids)
        return after

    def is_ours(row: Any) -> bool:
        return bool(row.version == after.version and _is_by(ids, change_id))

    if not UPDATE_TEXT.apply(
        if_lost=applied_if(is_ours), **after.columns(), seen=before.version
    ) and not _is_by(ids, change_id):
        raise TextChanged
    follow_text(*ids)
    return after


def _is_by(ids: tuple[UUID, UUID, UUID], change_id: UUID) -> bool:
    found = queries.get_text(*ids)
    return found is not None and found.change_id == change_id


def _is_answered(question: Text) -> bool:
    found = queries.get_question(question.product_id, question.question_id)
    return found is not None and any(each.state == PUBLISHED for each in found.answers)


def mark_pending(text: Text) -> None:
    """Write the pending row of a text, before it changes. Raises CassandraUnavailable."""
    PENDING_TEXTS.note(
        product_id=text.product_id, question_id=text.question_id, answer_id=text.answer_id
    )


def follow_text(product_id: UUID, question_id: UUID, answer_id: UUID) -> None:
    """Update a text's row in the staff's queue, and queue the mail about it. A second call changes nothing.

    The publication of an answer takes its question out of the queue, if the question waited for an answer. Raises CassandraUnavailable.
    """
    at = current_microseconds()
    text = queries.get_text(product_id, question_id, answer_id)
    if text is None:
        return
    update_queue(
        text,
        at,
        title=text.body[:100],
        kind="question" if text.is_question else "answer",
        question_id=question_id,
    )
    since = text.decided_at or text.written_at
    if text.state in (REFUSED, PUBLISHED) and current_time() - since < NEWS_FOR:
        announce("questions", product_id, f"{question_id} {answer_id}")
    if text.state == REFUSED and text.decided_at:
        _mail(text, text.user_id, text.decided_at, "question_refused", f"refused:{text.version}")
    if text.is_question or text.state != PUBLISHED:
        return
    question = queries.get_text(product_id, question_id)
    if question is None:
        return
    if question.held_for == UNANSWERED and question.state == PUBLISHED:
        _note_answered(question, text)
    if question.state == PUBLISHED and question.user_id != text.user_id:
        _mail(text, question.user_id, since, "question_answered", "answered")


def _note_answered(question: Text, answer: Text) -> None:
    after = replace(
        question,
        held_for="",
        version=question.version + 1,
        change_id=uuid5(answer.answer_id, "answered"),
    )
    # If the write is refused, the question was changed meanwhile, by an answer or a decision: the worker checks it again.
    mark_pending(question)
    UPDATE_TEXT.apply(if_lost=SEND_AGAIN, **after.columns(), seen=question.version)
    follow_text(question.product_id, question.question_id, QUESTION)


def _mail(text: Text, user_id: UUID, since: datetime, template: str, event: str) -> None:
    """Queue the mail to a user about a text, once; none if `since` is long ago, or the user wants none of the kind `template`."""
    product, person = get_product_at_quorum(text.product_id), get_user(user_id)
    if product is None or person is None or current_time() - since > NEWS_FOR:
        return
    if not wants_mail(template, person.notification_choices):
        return
    end_url = unsubscribe_url(user_id, template)
    address = reverse("questions:answer", args=(product.slug, text.question_id))
    queue_mail(
        uuid5(text.text_id, template),
        event,
        person.email,
        template,
        {
            "name": product.name,
            "reason": text.refusal,
            "url": settings.PUBLIC_URL + address,
            "end_url": end_url,
        },
        since,
        MailOptions(unsubscribe_url=end_url),
    )


def erase_texts(user_id: UUID, *, keeps_texts: bool) -> None:
    """Remove a person's name from all their questions and answers. Raises CassandraUnavailable.

    A published text stays if the shop keeps texts. A text that is held, refused or withdrawn is always deleted.
    """
    for claim in queries.list_claims(user_id):
        ids = claim.product_id, claim.question_id, claim.answer_id
        while (text := queries.get_text(*ids)) and text.user_id == user_id:
            erase_text(text, keeps_text=keeps_texts)
        FORGET_CLAIM.apply(if_lost=REFUSED_MEANS_DONE, user_id=user_id, change_id=claim.change_id)


def erase_text(text: Text, *, keeps_text: bool) -> None:
    """Remove the writer from a text, unless the text is changed at this moment. It can be repeated. Raises CassandraUnavailable."""
    nobodys = replace(
        text,
        user_id=erased_id(text.text_id),
        name="",
        version=text.version + 1,
        change_id=uuid5(text.text_id, f"erased {text.version}"),
    )
    if not (keeps_text and text.state == PUBLISHED):
        nobodys = replace(nobodys, body="", state=WITHDRAWN, held_for="", refusal="")
    mark_pending(text)
    UPDATE_TEXT.apply(if_lost=SEND_AGAIN, **nobodys.columns(), seen=text.version)
    follow_text(text.product_id, text.question_id, text.answer_id)


def restore_claim(text: Text) -> None:
    """Add a text to its writer's list (`questions_by_user`) if it is missing there. Raises CassandraUnavailable."""
    CLAIM.apply(
        if_lost=REFUSED_MEANS_DONE,
        user_id=text.user_id,
        change_id=uuid5(text.text_id, "restored"),
        product_id=text.product_id,
        question_id=text.question_id,
        answer_id=text.answer_id,
    )


def load_questions(texts: Sequence[Text]) -> None:
    """Write questions and answers that have ids and times already. Existing texts with the same ids stay. Raises CassandraUnavailable."""
    for text in texts:
        restore_claim(text)
        INSERT_TEXT.apply(if_lost=REFUSED_MEANS_DONE, **text.columns())
        follow_text(text.product_id, text.question_id, text.answer_id)
