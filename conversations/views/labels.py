"""A member's own labels: list, add, change, empty and delete them."""

from contextlib import suppress
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, member_required
from conversations import queries
from conversations.access import get_reads, starts_reading
from conversations.entities import Label
from conversations.errors import LabelNameTaken, NoSuchLabel, TooManyLabels
from conversations.forms import LabelForm
from conversations.mailbox_page import sort_own
from conversations.operations import labels as operations
from conversations.rules import EMPTIABLE, MAX_OWN_LABELS
from web.decorators import get_or_post, post_only
from web.rendering import render_page


def _start_labels(user_id: UUID, request: HttpRequest, **address: UUID) -> queries.PendingResult:
    return queries.prefetch_labels(user_id)


def _list_labels(user_id: UUID) -> dict[UUID, Label]:
    return queries.labels_from_rows(user_id, queries.prefetch_labels(user_id).rows())


@require_safe
@starts_reading(_start_labels)
@member_required
def label_list(request: HttpRequest) -> HttpResponse:
    """List the member's labels with their counts. A form adds one."""
    labels = queries.labels_from_rows(current_member(request).pk, get_reads(request).rows())
    return _render_list(request, labels, LabelForm())


def _render_list(
    request: HttpRequest, labels: dict[UUID, Label], form: LabelForm, status: int = 200
) -> HttpResponse:
    context = {"labels": sort_own(labels), "form": form}
    return render_page(request, "conversations/labels.html", context, status=status)


@member_required
@post_only("conversations:labels")
def create_label(request: HttpRequest) -> HttpResponse:
    """Add a label."""
    user_id, form = current_member(request).pk, LabelForm(request.POST)
    if form.is_valid():
        try:
            operations.create_label(user_id, form.cleaned_data["name"], form.cleaned_data["color"])
        except LabelNameTaken:
            form.add_error("name", _("You have another label with this name"))
        except TooManyLabels:
            text = _("You have %(most)d labels. Delete one first") % {"most": MAX_OWN_LABELS}
            form.add_error("name", text)
        else:
            messages.success(request, _("The label is added."))
            return redirect("conversations:labels")
    return _render_list(request, _list_labels(user_id), form, 422)


@get_or_post
@starts_reading(_start_labels)
@member_required
def label_detail(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Show or change a label."""
    user_id = current_member(request).pk
    label = queries.labels_from_rows(user_id, get_reads(request).rows()).get(label_id)
    if label is None or (label.is_fixed and label.key not in EMPTIABLE):
        raise Http404("no such label")
    if request.method != "POST" or label.is_fixed:
        form = LabelForm(initial={"name": label.name, "color": label.color})
        return render_page(request, "conversations/label.html", {"label": label, "form": form})
    form = LabelForm(request.POST)
    if form.is_valid():
        name, color = form.cleaned_data["name"], form.cleaned_data["color"]
        try:
            operations.edit_label(user_id, label_id, name, color)
        except LabelNameTaken:
            form.add_error("name", _("You have another label with this name"))
        except NoSuchLabel:
            return redirect("conversations:labels")
        else:
            messages.success(request, _("The label is saved."))
            return redirect("conversations:labels")
    context = {"label": label, "form": form}
    return render_page(request, "conversations/label.html", context, status=422)


@member_required
@post_only("conversations:label", "label_id")
def empty_label(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Take a label off all its conversations; what is in the trash is deleted. A repeat names an id that is gone."""
    with suppress(NoSuchLabel):
        operations.empty_label(current_member(request).pk, label_id)
        messages.success(request, _("It is empty now."))
    return redirect("conversations:list")


@member_required
@post_only("conversations:label", "label_id")
def delete_label(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Delete a label. Its conversations stay."""
    with suppress(NoSuchLabel):
        operations.delete_label(current_member(request).pk, label_id)
        messages.success(request, _("The label is deleted."))
    return redirect("conversations:labels")
