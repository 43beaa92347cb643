"""A member's own labels: list, add, change, empty and delete them."""

from contextlib import suppress
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts.access import current_member, member_required
from accounts.early_reads import get_early_reads, starts_reads
from conversations import queries
from conversations.errors import NoSuchLabel
from conversations.forms import LabelForm
from conversations.label_page import find_label, save_label
from conversations.mailbox_page import sort_own
from conversations.operations import labels as operations
from web.decorators import get_or_post, post_only
from web.rendering import render_page


def _start_labels(request: HttpRequest, user_id: UUID, **address: UUID) -> queries.PendingResult:
    return queries.prefetch_labels(user_id)


@get_or_post
@starts_reads(_start_labels)
@member_required
def label_list(request: HttpRequest) -> HttpResponse:
    """List the member's labels with their counts, and add one on submit."""
    user_id, form = current_member(request).pk, LabelForm(request.POST or None)
    if form.is_bound and save_label(form, partial(operations.create_label, user_id)):
        messages.success(request, _("The label is added."))
        return redirect("conversations:labels")
    labels = queries.labels_from_rows(user_id, get_early_reads(request).rows())
    context = {"labels": sort_own(labels), "form": form}
    status = 422 if form.is_bound else 200
    return render_page(request, "conversations/labels.html", context, status=status)


@get_or_post
@starts_reads(_start_labels)
@member_required
def label_detail(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Show a label, and change it on submit."""
    user_id = current_member(request).pk
    labels = queries.labels_from_rows(user_id, get_early_reads(request).rows())
    label = find_label(labels, label_id)
    form = LabelForm(request.POST or None, initial={"name": label.name, "color": label.color})
    if form.is_bound and save_label(form, partial(operations.edit_label, user_id, label_id)):
        messages.success(request, _("The label is saved."))
        return redirect("conversations:labels")
    context = {"label": label, "form": form}
    status = 422 if form.is_bound else 200
    return render_page(request, "conversations/label.html", context, status=status)


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
