"""Pages of reviews for staff: the queue (also of questions and answers), the decisions, the shop's answer."""

from typing import Any
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import REVIEW_STAFF
from adminpanel.moderation.forms import (
    HOLD,
    PUBLISH,
    ReviewAnswerForm,
    ReviewDecisionForm,
    ReviewPictureForm,
)
from adminpanel.moderation.labels import KINDS, REASONS_HELD, STATES
from adminpanel.moderation.queue import list_queue
from adminpanel.parameters import found_or_404
from cassandra_db import Row, current_time
from catalogue.queries import prefetch_product, product_from_rows
from moderation.errors import NoSuchText, TextChanged
from moderation.states import PUBLISHED, REFUSED
from questions.entities import QUESTION
from reviews import operations, queries
from reviews.entities import Review
from reviews.errors import ReviewsBusy
from web.decorators import post_only
from web.rendering import render_page


@staff_required(REVIEW_STAFF)
@require_safe
def review_queue(request: HttpRequest) -> HttpResponse:
    """List the reviews, questions, answers, posts and comments that wait for a decision, the oldest first."""
    rows, has_more = list_queue()
    context = {
        "waiting": [
            {
                "row": row,
                "kind": KINDS.get(row.kind, KINDS[""]),
                "url": _waiting_url(row),
                "why": REASONS_HELD.get(row.held_for, ""),
            }
            for row in rows
        ],
        "has_more": has_more,
    }
    return render_page(request, "adminpanel/moderation/reviews.html", context)


def _waiting_url(row: Row) -> str:
    if row.kind == "post":
        return reverse("posts:staff_post", args=(row.review_id,))
    if row.kind == "comment":
        return reverse("posts:staff_comment", args=(row.user_id, row.review_id))
    if row.kind:
        # The row of a question has the question's id in both columns.
        answer_id = QUESTION if row.review_id == row.question_id else row.review_id
        return reverse("adminpanel:question", args=(row.product_id, row.question_id, answer_id))
    return reverse("adminpanel:review", args=(row.product_id, row.user_id))


@staff_required(REVIEW_STAFF)
@require_safe
def review_detail(request: HttpRequest, product_id: UUID, user_id: UUID) -> HttpResponse:
    """Show a review, with the decisions that staff can take."""
    return _review_page(request, product_id, user_id)


@staff_required(REVIEW_STAFF)
@post_only("adminpanel:review", "product_id", "user_id")
def review_decide(request: HttpRequest, product_id: UUID, user_id: UUID) -> HttpResponse:
    """Publish, refuse or hold a review."""
    form = ReviewDecisionForm(request.POST)
    if not form.is_valid():
        return _review_page(request, product_id, user_id, decision=form, status=422)
    typed = form.cleaned_data
    change: dict[str, Any] = {
        "seen": typed["version"],
        "change_id": uuid5(typed["operation"], typed["act"]),
        "now": current_time(),
    }
    try:
        if typed["act"] == PUBLISH:
            operations.publish_review(product_id, user_id, **change)
            messages.success(request, _("The review is published."))
        elif typed["act"] == HOLD:
            operations.hold_review(product_id, user_id, **change)
            messages.success(request, _("The review is back in the queue."))
        else:
            refused = operations.refuse_review(product_id, user_id, typed["reason"], **change)
            said = _("Review refused. The writer gets an email with your reason.")
            messages.success(request, _("Review refused.") if refused.imported else said)
    except NoSuchText as error:
        raise Http404 from error
    except (TextChanged, ReviewsBusy):
        return _review_page(request, product_id, user_id, decision=form, status=409, is_stale=True)
    return redirect("adminpanel:review", product_id, user_id)


@staff_required(REVIEW_STAFF)
@post_only("adminpanel:review", "product_id", "user_id")
def review_picture_remove(request: HttpRequest, product_id: UUID, user_id: UUID) -> HttpResponse:
    """Remove a picture from a review."""
    form = ReviewPictureForm(request.POST)
    if not form.is_valid():
        return _review_page(request, product_id, user_id, status=422, is_stale=True)
    typed = form.cleaned_data
    try:
        operations.remove_picture(
            product_id,
            user_id,
            typed["picture"],
            seen=typed["version"],
            change_id=uuid5(typed["operation"], typed["picture"]),
            now=current_time(),
        )
    except NoSuchText as error:
        raise Http404 from error
    except (TextChanged, ReviewsBusy):
        return _review_page(request, product_id, user_id, status=409, is_stale=True)
    messages.success(request, _("The picture is removed."))
    return redirect("adminpanel:review", product_id, user_id)


@staff_required(REVIEW_STAFF)
@post_only("adminpanel:review", "product_id", "user_id")
def review_answer(request: HttpRequest, product_id: UUID, user_id: UUID) -> HttpResponse:
    """Answer a review as the shop."""
    form = ReviewAnswerForm(request.POST)
    if not form.is_valid():
        return _review_page(request, product_id, user_id, answer=form, status=422)
    typed = form.cleaned_data
    try:
        operations.answer_review(
            product_id,
            user_id,
            typed["answer"],
            seen=typed["version"],
            change_id=uuid5(typed["operation"], "answer"),
            now=current_time(),
        )
    except NoSuchText as error:
        raise Http404 from error
    except (TextChanged, ReviewsBusy):
        return _review_page(request, product_id, user_id, answer=form, status=409, is_stale=True)
    messages.success(
        request, _("Your answer is saved.") if typed["answer"] else _("The answer is removed.")
    )
    return redirect("adminpanel:review", product_id, user_id)


def _review_page(
    request: HttpRequest,
    product_id: UUID,
    user_id: UUID,
    *,
    decision: ReviewDecisionForm | None = None,
    answer: ReviewAnswerForm | None = None,
    status: int = 200,
    is_stale: bool = False,
) -> HttpResponse:
    pending = queries.prefetch_review(product_id, user_id)
    product_pending = prefetch_product(product_id)
    review = found_or_404(queries.review_from_row(pending.one()), "review")
    for form in (decision, answer):
        if is_stale and form is not None:
            form.keep_typed(version=review.version, operation=uuid4())
    state, tone = STATES[review.state]
    context = {
        "review": review,
        "product": product_from_rows(product_pending.rows()),
        "state": state,
        "tone": tone,
        "held_for": REASONS_HELD.get(review.held_for, ""),
        "decision": decision or ReviewDecisionForm(initial=_hidden_values(review)),
        "answer": answer
        or ReviewAnswerForm(initial=_hidden_values(review) | {"answer": review.answer}),
        "form": decision or answer,
        "is_stale": is_stale,
        "can_decide": review.is_waiting,
        "can_undo": review.state in (PUBLISHED, REFUSED) and not review.is_waiting,
    }
    return render_page(request, "adminpanel/moderation/review.html", context, status=status)


def _hidden_values(review: Review) -> dict[str, Any]:
    return {"version": review.version, "operation": uuid4()}
