"""I40: the moderation queue and each person's list of texts agree with the questions and answers."""

from collections.abc import Iterator
from datetime import UTC
from functools import partial
from uuid import UUID

from consistency.findings import Check, Violation, call, column_subjects
from consistency.reviews import unless_pending
from moderation.queries import WAITING, list_moderation_days
from questions import operations, queries
from questions.entities import PUBLISHED, UNANSWERED, WITHDRAWN, Text
from questions.operations import erased_id


def _find_faults(product_id: UUID) -> Iterator[Violation]:
    texts = queries.list_texts_of_product(product_id)
    answered = {
        each.question_id for each in texts if each.state == PUBLISHED and not each.is_question
    }
    for text in texts:
        fault = partial(Violation, "I40", f"product {product_id} text {text.text_id}")
        if text.is_question and _waits_in_vain(text, answered):
            answers = [each for each in texts if each.question_id == text.question_id]
            fix = call(_follow_all, answers)
            yield fault("a question waits for an answer that it has", fix=fix)
        is_nobodys = text.user_id == erased_id(text.text_id)
        if is_nobodys and text.state != PUBLISHED and (text.body or text.state != WITHDRAWN):
            fix = call(operations.erase_text, text, keeps_text=True)
            yield fault("unread words of an erased person are kept", text.state, fix)
        if _is_misplaced(text):
            detail = f"{text.state}, {text.held_for or 'nothing'} to decide"
            yield fault("the staff's queue is not as it is", detail, call(_follow_all, [text]))
        if not _is_in_list(text):
            fix = call(operations.restore_claim, text)
            yield fault("it is missing among what its person has written", str(text.user_id), fix)


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


_PRODUCTS = column_subjects(queries.ASKED, "product_id", "products")
_CHECK = unless_pending(operations.PENDING_TEXTS, _find_faults)
CHECKS = (Check("questions", ("I40",), _PRODUCTS, _CHECK),)
