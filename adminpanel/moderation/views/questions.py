"""Pages of questions and answers for staff: show one, decide about it, or answer as the shop."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.roles import REVIEW_STAFF
from adminpanel.moderation.forms import HOLD, PUBLISH, WITHDRAW, QuestionDecisionForm
from adminpanel.moderation.labels import REASONS_HELD, STATES
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from catalogue.queries import prefetch_product, product_from_rows
from moderation.errors import NoSuchText, TextChanged
from moderation.states import PUBLISHED, REFUSED, UNANSWERED
from questions import operations, queries
from questions.entities import QUESTION, Question, Text
from questions.errors import QuestionFull
from questions.forms import AnswerForm
from web.decorators import post_only
from web.rendering import render_page


@staff_required(REVIEW_STAFF)
@require_safe
def question_detail(
    request: HttpRequest, product_id: UUID, question_id: UUID, answer_id: UUID
) -> HttpResponse:
    """Show a question, or one of its answers, with the decisions that staff can take."""
    return _question_page(request, _find(product_id, question_id), answer_id)


@staff_required(REVIEW_STAFF)
@post_only("adminpanel:question", "product_id", "question_id", "answer_id")
def question_decide(
    request: HttpRequest, product_id: UUID, question_id: UUID, answer_id: UUID
) -> HttpResponse:
    """Publish, refuse, hold or withdraw a question or an answer."""
    found, form = _find(product_id, question_id), QuestionDecisionForm(request.POST)
    if not form.is_valid():
        return _question_page(request, found, answer_id, decision=form, status=422)
    text, typed = _find_text(found, answer_id), form.cleaned_data
    change: dict[str, Any] = {
        "change_id": uuid5(typed["operation"], typed["act"]),
        "now": current_time(),
    }
    text = replace(text, version=typed["version"])
    if typed["act"] == WITHDRAW and not text.is_shops:
        raise Http404
    try:
        if typed["act"] == PUBLISH:
            operations.publish_text(text, **change)
            messages.success(request, _("Published."))
        elif typed["act"] == HOLD:
            operations.hold_text(text, **change)
            messages.success(request, _("It’s back in the queue."))
        elif typed["act"] == WITHDRAW:
            operations.withdraw_text(text, **change)
            messages.success(request, _("The answer is removed."))
        else:
            operations.refuse_text(text, typed["reason"], **change)
            messages.success(request, _("Refused. The writer gets an email with your reason."))
    except NoSuchText as error:
        raise Http404 from error
    except QuestionFull as full:
        form.add_error(None, str(full))
        return _question_page(request, found, answer_id, decision=form, status=422)
    except TextChanged:
        found = _find(product_id, question_id)
        return _question_page(request, found, answer_id, decision=form, status=409)
    return redirect("adminpanel:question", product_id, question_id, answer_id)


@staff_required(REVIEW_STAFF)
@post_only("adminpanel:question", "product_id", "question_id", "answer_id")
def question_answer(
    request: HttpRequest, product_id: UUID, question_id: UUID, answer_id: UUID
) -> HttpResponse:
    """Answer a question as the shop."""
    found, form = _find(product_id, question_id), AnswerForm(request.POST)
    if form.is_valid() and found.question.state != PUBLISHED:
        form.add_error(None, _("Publish the question first."))
    if not form.is_valid():
        return _question_page(request, found, answer_id, answer=form, status=422)
    user_id = current_member(request).user_id
    try:
        operations.answer_question(
            found.question,
            user_id,
            form.cleaned_data["body"],
            name="",
            held_for="",
            change_id=uuid5(user_id, form.cleaned_data["operation"].hex),
            now=current_time(),
            is_shops=True,
        )
    except QuestionFull as full:
        form.add_error(None, str(full))
        return _question_page(request, found, answer_id, answer=form, status=422)
    except NoSuchText as error:
        raise Http404 from error
    except TextChanged:
        form.add_error(None, _("Others are answering this question right now. Try again."))
        return _question_page(request, found, answer_id, answer=form, status=409)
    messages.success(request, _("Your answer is on the page."))
    return redirect("adminpanel:question", product_id, question_id, QUESTION)


def _find(product_id: UUID, question_id: UUID) -> Question:
    found = queries.get_question(product_id, question_id) if question_id.version == 1 else None
    return found_or_404(found, "question")


def _find_text(found: Question, answer_id: UUID) -> Text:
    return found_or_404(
        next((each for each in found.texts if each.answer_id == answer_id), None), "answer"
    )


def _question_page(
    request: HttpRequest,
    found: Question,
    answer_id: UUID,
    *,
    decision: QuestionDecisionForm | None = None,
    answer: AnswerForm | None = None,
    status: int = 200,
) -> HttpResponse:
    text = _find_text(found, answer_id)
    product = product_from_rows(prefetch_product(text.product_id).rows())
    if status == 409 and decision:
        decision.keep_typed(version=text.version, operation=uuid4())
    state, tone = STATES[text.state]
    initial = {"version": text.version, "operation": uuid4()}
    context = {
        "text": text,
        "question": found.question,
        "question_row": QUESTION,
        "answers": [(each, *STATES[each.state]) for each in found.answers],
        "product": product,
        "state": state,
        "tone": tone,
        "held_for": REASONS_HELD.get(text.held_for, ""),
        "decision": decision or QuestionDecisionForm(initial=initial),
        "answer": answer or AnswerForm(initial={"operation": uuid4()}),
        "form": decision or answer,
        "is_stale": status == 409,
        "is_unanswered": text.held_for == UNANSWERED,
        "can_answer": text.is_question and text.state == PUBLISHED,
        "can_decide": text.is_waiting,
        "can_undo": text.state in (PUBLISHED, REFUSED)
        and not text.is_waiting
        and not text.is_shops,
    }
    return render_page(request, "adminpanel/moderation/question.html", context, status=status)
