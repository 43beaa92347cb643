"""I40: the moderation queue and each person's list of their texts agree with the questions and answers."""

from collections.abc import Iterator
from functools import partial
from uuid import UUID

from consistency.findings import Violation, call
from consistency.reviews import check_products
from moderation.queries import is_queued_right
from moderation.states import PUBLISHED, UNANSWERED, WITHDRAWN
from questions import operations, queries
from questions.entities import Text


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
        if text.is_erased and text.state != PUBLISHED and (text.body or text.state != WITHDRAWN):
            fix = call(operations.erase_text, text, keeps_text=True)
            yield fault("unread words of an erased person are kept", text.state, fix)
        if not is_queued_right(text):
            detail = f"{text.state}, {text.held_for or 'nothing'} to decide"
            yield fault("the staff's queue is not as it is", detail, call(_follow_all, [text]))
        if not _is_in_list(text):
            fix = call(operations.restore_claim, text)
            yield fault("it is missing among what its person has written", str(text.user_id), fix)


def _waits_in_vain(text: Text, answered: set[UUID]) -> bool:
    waits = text.state == PUBLISHED and text.held_for == UNANSWERED
    return waits and text.question_id in answered


def _is_in_list(text: Text) -> bool:
    if text.is_erased:
        return True
    ids = text.question_id, text.answer_id
    own = queries.list_claims(text.user_id)
    return any((row.question_id, row.answer_id) == ids for row in own)


def _follow_all(texts: list[Text]) -> None:
    for text in texts:
        operations.follow_text(text.product_id, text.question_id, text.answer_id)


CHECKS = (
    check_products("questions", ("I40",), queries.ASKED, operations.PENDING_TEXTS, _find_faults),
)
