"""The pages of a product's questions."""

from dataclasses import replace
from uuid import UUID, uuid4, uuid5

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from cassandra_db import current_time
from cassandra_db.errors import InvalidPageToken
from catalogue.queries import prefetch_categories
from moderation.errors import NoSuchText, TextChanged
from moderation.pages import get_product_on_sale, require_product_id
from moderation.rules import find_reason_to_hold, get_review_rules, shown_name
from moderation.similar_texts import find_crowd_or_copy
from moderation.states import PUBLISHED, WITHDRAWN
from questions import operations, queries
from questions.entities import QUESTION, Question, Text
from questions.errors import QuestionFull
from questions.forms import AnswerForm, QuestionForm, TextForm, WithdrawForm
from reviews.queries import has_received
from web.decorators import get_or_post, post_only, public
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_page, render_too_many_attempts

_QUESTION = "questions/question.html"


@require_safe
@public
def product_questions(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a product's questions with their answers, newest first."""
    prefetch_categories()
    product_id, after = require_product_id(slug), request.GET.get("after", "")
    try:
        reading = queries.prefetch_question_page(product_id, after)
    except InvalidPageToken as error:
        raise Http404 from error
    product = get_product_on_sale(product_id)
    if product.slug != slug:
        return redirect("questions:list", product.slug, permanent=True)
    page = queries.question_page_from_rows(product_id, reading.rows())
    address = reverse("questions:list", args=(slug,))
    context = {
        "product": product,
        "questions": page.questions,
        "is_first": not after,
        "next_url": f"{address}?{urlencode({'after': page.next_token})}" if page.next_token else "",
    }
    return render_page(request, "questions/list.html", context)


@member_required
@get_or_post
def ask_question(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the form that asks a question about a product, and ask it on submit."""
    product, member = get_product_on_sale(require_product_id(slug)), current_member(request)
    form = QuestionForm(request.POST or None, initial={"operation": uuid4()})
    context = {"product": product, "form": form}
    if request.method != "POST":
        return render_page(request, "questions/ask.html", context)
    if not form.is_valid():
        return render_page(request, "questions/ask.html", context, status=422)
    change_id = uuid5(member.user_id, form.cleaned_data["operation"].hex)
    try:
        _hit_rate_limit(request, member.user_id, change_id)
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, "questions/ask.html", context)
    text = operations.ask_question(
        product.product_id,
        member.user_id,
        form.cleaned_data["body"],
        name=shown_name(member.name),
        held_for=_find_reason_to_hold(
            request, form.cleaned_data["body"], member.user_id, change_id
        ),
        change_id=change_id,
        now=current_time(),
    )
    if text.state == PUBLISHED:
        messages.success(
            request, _("Your question is on the page. We’ll email you when somebody answers.")
        )
        return redirect("questions:list", slug)
    messages.success(request, _("Thank you. We’ll read your question before it appears."))
    return redirect("questions:answer", slug, text.question_id)


@member_required
@get_or_post
def answer_question(request: HttpRequest, slug: str, question_id: UUID) -> HttpResponse:
    """Show a question with the member's own texts. On submit, add the answer of a member who has received the product."""
    product, member = get_product_on_sale(require_product_id(slug)), current_member(request)
    found = _get_question(product.product_id, question_id, member.user_id)
    form = AnswerForm(request.POST or None, initial={"operation": uuid4()})
    is_published = found.question.state == PUBLISHED
    can_answer = is_published and has_received(member.user_id, product.product_id)
    context = {
        "product": product,
        "question": found.question,
        "answers": found.answers,
        "own": [
            each for each in found.texts if each.user_id == member.user_id and not each.is_shops
        ],
        "form": form,
        "can_answer": can_answer,
    }
    if request.method != "POST":
        return render_page(request, _QUESTION, context)
    if form.is_valid() and not can_answer:
        form.add_error(
            None, _("Only people who have received this product can answer questions about it.")
        )
    if not form.is_valid():
        return render_page(request, _QUESTION, context, status=422)
    change_id = uuid5(member.user_id, form.cleaned_data["operation"].hex)
    try:
        _hit_rate_limit(request, member.user_id, change_id)
    except TooManyAttempts as error:
        return render_too_many_attempts(request, error, _QUESTION, context)
    try:
        text = operations.answer_question(
            found.question,
            member.user_id,
            form.cleaned_data["body"],
            name=shown_name(member.name),
            held_for=_find_reason_to_hold(
                request, form.cleaned_data["body"], member.user_id, change_id
            ),
            change_id=change_id,
            now=current_time(),
        )
    except QuestionFull as full:
        form.add_error(None, str(full))
        return render_page(request, _QUESTION, context, status=422)
    except NoSuchText as error:
        raise Http404 from error
    except TextChanged:
        form.add_error(None, _("Others are answering this question right now. Try again."))
        return render_page(request, _QUESTION, context, status=409)
    messages.success(
        request,
        _("Thank you. Your answer is on the page.")
        if text.state == PUBLISHED
        else _("Thank you. We’ll read your answer before it appears."),
    )
    return redirect("questions:answer", slug, question_id)


@member_required
@post_only("questions:answer", "slug", "question_id")
def withdraw_text(request: HttpRequest, slug: str, question_id: UUID) -> HttpResponse:
    """Withdraw a question or an answer that the member has written."""
    form, member_id = WithdrawForm(request.POST), current_member(request).user_id
    text = _get_meant(form, slug, question_id)
    if text.user_id != member_id or text.is_shops:
        raise Http404
    try:
        operations.withdraw_text(
            replace(text, version=form.cleaned_data["version"]),
            change_id=uuid5(form.cleaned_data["operation"], f"withdraw {text.text_id}"),
            now=current_time(),
        )
    except NoSuchText:
        pass  # the text was withdrawn before, in another tab
    except TextChanged:
        messages.error(request, _("This has just changed. Please look at it again."))
        return redirect("questions:answer", slug, question_id)
    messages.success(
        request,
        _("Your question is withdrawn.") if text.is_question else _("Your answer is withdrawn."),
    )
    return redirect("questions:list", slug)


@member_required
@post_only("questions:answer", "slug", "question_id")
def report_text(request: HttpRequest, slug: str, question_id: UUID) -> HttpResponse:
    """Report a question or an answer to the staff; a second report changes nothing."""
    text = _get_meant(TextForm(request.POST), slug, question_id)
    member_id = current_member(request).user_id
    if text.state != PUBLISHED:
        raise Http404
    if not text.has_report(member_id):
        # Two submits at once count as one.
        hit_id = uuid5(text.text_id, f"{member_id.hex} {text.version}")
        hit_rate_limit(request, "report", str(member_id), hit_id=hit_id)
    try:
        operations.report_text(text, member_id, now=current_time())
    except (NoSuchText, TextChanged):
        messages.error(request, _("This has just changed. Please read it again."))
    else:
        messages.success(request, _("Thank you. We’ll look at this."))
    return redirect("questions:list", slug)


def _get_question(product_id: UUID, question_id: UUID, member_id: UUID) -> Question:
    """Return a question with the texts that a member may see: the published ones, and the member's own. Raises Http404."""
    if question_id.version != 1:
        raise Http404
    found = queries.get_question(product_id, question_id)

    def is_seen(text: Text) -> bool:
        own = text.user_id == member_id and text.state != WITHDRAWN
        return text.state == PUBLISHED or own

    if found is None or not is_seen(found.question):
        raise Http404
    return Question(found.question, tuple(filter(is_seen, found.answers)))


def _get_meant(form: TextForm, slug: str, question_id: UUID) -> Text:
    """Return the question or answer that a form names, in its present version. Raises Http404."""
    product_id = require_product_id(slug)
    if not form.is_valid() or question_id.version != 1:
        raise Http404
    text = queries.get_text(product_id, question_id, form.cleaned_data["answer"] or QUESTION)
    if text is None:
        raise Http404
    return text


def _hit_rate_limit(request: HttpRequest, member_id: UUID, change_id: UUID) -> None:
    """Count a question or an answer, unless its form was counted before. Raises TooManyAttempts, CassandraUnavailable."""
    if not queries.find_claim(member_id, change_id):
        hit_rate_limit(request, "question", str(member_id), hit_id=change_id)


def _find_reason_to_hold(request: HttpRequest, body: str, member_id: UUID, change_id: UUID) -> str:
    return find_reason_to_hold("", body, get_review_rules()) or find_crowd_or_copy(
        request, body, member_id, change_id
    )
