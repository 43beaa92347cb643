"""I40: the staff's queue and what each person has written are as the questions and answers."""

from collections.abc import Iterator
from datetime import UTC
from uuid import UUID

from cassandra_db import current_time
from consistency.findings import Check, Scope, Violation
from consistency.reviews import FINISH_DELAY
from moderation.queries import WAITING, list_moderation_days
from questions import operations, queries
from questions.entities import PUBLISHED, UNANSWERED, WITHDRAWN, Text
from questions.operations import erased_id


def _iterate_products(scope: Scope | None) -> Iterator[UUID]:
    if scope is not None:
        yield from scope.products
    else:
        yield from (row.product_id for row in queries.ASKED.iterate_table())


def _is_under_way(product_id: UUID) -> bool:
    now = current_time()
    rows = operations.PENDING_TEXTS.list_between(now - FINISH_DELAY, now)
    return any(row.product_id == product_id for row in rows)


def _check_product(product_id: UUID) -> Iterator[Violation]:
    found = list(_find_faults(product_id))
    if found and not _is_under_way(product_id):
        yield from found


def _find_faults(product_id: UUID) -> Iterator[Violation]:
    texts = queries.list_texts_of_product(product_id)
    answered = {
        each.question_id for each in texts if each.state == PUBLISHED and not each.is_question
    }
    for text in texts:
        subject = f"product {product_id} text {text.text_id}"
        if text.is_question and _waits_in_vain(text, answered):
            yield Violation(
                "I40",
                subject,
                "a question waits for an answer that it has",
                "",
                lambda now,
                answers=[  # type: ignore[misc]
                    each for each in texts if each.question_id == text.question_id
                ]: _follow_all(answers),
            )
        is_nobodys = text.user_id == erased_id(text.text_id)
        if is_nobodys and text.state != PUBLISHED and (text.body or text.state != WITHDRAWN):
            yield Violation(
                "I40",
                subject,
                "words of an erased person are kept that nobody has read",
                text.state,
                lambda now, text=text: operations.erase_text(text, keeps_text=True),  # type: ignore[misc]
            )
        if _is_misplaced(text):
            yield Violation(
                "I40",
                subject,
                "the staff's queue is not as it is",
                f"{text.state}, {text.held_for or 'nothing'} to decide",
                lambda now, text=text: _follow_all([text]),  # type: ignore[misc]
            )
        if not _is_in_list(text):
            yield Violation(
                "I40",
                subject,
                "it is missing among what its person has written",
                str(text.user_id),
                lambda now, text=text: operations.restore_claim(text),  # type: ignore[misc]
            )


def _waits_in_vain(text: Text, answered: set[UUID]) -> bool:
    waits = text.state == PUBLISHED and text.held_for == UNANSWERED
    return waits and text.question_id in answered


def _is_misplaced(text: Text) -> bool:
    if text.queued_at is None:
        return False
    day = text.queued_at.astimezone(UTC).date()
    waits = any(row.review_id == text.text_id for row in WAITING.all(day=day, most=10_000))
    return waits != text.is_waiting or (waits and day not in list_moderation_days())


def _is_in_list(text: Text) -> bool:
    if text.user_id == erased_id(text.text_id):
        return True
    ids = text.question_id, text.answer_id
    own = queries.list_claims(text.user_id)
    return any((row.question_id, row.answer_id) == ids for row in own)


def _follow_all(texts: list[Text]) -> None:
    for text in texts:
        operations.follow_text(text.product_id, text.question_id, text.answer_id)


CHECKS = (Check("questions", ("I40",), _iterate_products, _check_product),)
