"""Pages of the shop's labels for conversations: list, add, change, empty and delete them."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import staff_required
from accounts.roles import MESSAGE_STAFF
from adminpanel.conversations.forms import LabelForm
from conversations import queries
from conversations.entities import Label
from conversations.errors import NoSuchLabel
from conversations.label_page import find_label, save_label
from conversations.mailbox_page import sort_own
from conversations.operations import labels as operations
from conversations.rules import SHOP_MAILBOX
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@staff_required(MESSAGE_STAFF)
@require_safe
def label_list(request: HttpRequest) -> HttpResponse:
    """List the shop's labels with their counts. A form adds one."""
    return _render_list(request, LabelForm())


def _render_list(request: HttpRequest, form: LabelForm, status: int = 200) -> HttpResponse:
    context = {"labels": sort_own(queries.get_labels(SHOP_MAILBOX)), "form": form}
    return render_page(request, "adminpanel/conversations/labels.html", context, status=status)


@staff_required(MESSAGE_STAFF, is_about_people=False)
@post_only("adminpanel:message_labels")
def create_label(request: HttpRequest) -> HttpResponse:
    """Add a label."""
    form = LabelForm(request.POST)
    if save_label(form, partial(operations.create_label, SHOP_MAILBOX)):
        name = form.cleaned_data["name"]
        messages.success(request, _("The label %(name)s is added.") % {"name": name})
        return redirect("adminpanel:message_labels")
    return _render_list(request, form, 422)


@staff_required(MESSAGE_STAFF, is_about_people=False)
@get_or_post
def label_detail(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Show or change a label."""
    label = find_label(queries.get_labels(SHOP_MAILBOX), label_id)
    if request.method != "POST":
        return _render_label(request, label)
    form = LabelForm(request.POST)
    if form.is_valid() and form.cleaned_data["version"] not in _versions(label):
        return _render_label(request, label, form, 409)
    save = partial(operations.edit_label, SHOP_MAILBOX, label_id)
    if label.is_fixed or not save_label(form, save):
        return _render_label(request, label, form, 422)
    messages.success(request, _("Saved."))
    return redirect("adminpanel:message_labels")


@staff_required(MESSAGE_STAFF, is_about_people=False)
@post_only("adminpanel:message_label", "label_id")
def empty_label(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Take a label off all its conversations, or delete what is in the trash."""
    text = _("%(name)s is empty.")
    return _take_away(request, label_id, operations.empty_label, text, "adminpanel:messages")


@staff_required(MESSAGE_STAFF, is_about_people=False)
@post_only("adminpanel:message_label", "label_id")
def delete_label(request: HttpRequest, label_id: UUID) -> HttpResponse:
    """Delete a label. Its conversations stay."""
    text = _("The label %(name)s is deleted.")
    page = "adminpanel:message_labels"
    return _take_away(request, label_id, operations.delete_label, text, page)


def _take_away(
    request: HttpRequest,
    label_id: UUID,
    take_away: Callable[[UUID, UUID], None],
    text: str,
    page: str,
) -> HttpResponse:
    """Empty or delete a label that nobody has changed since the page was shown. A label that is gone was emptied by a repeat."""
    labels = queries.get_labels(SHOP_MAILBOX)
    label = labels.get(label_id)
    if label and request.POST.get("version") != _versions(label)[1]:
        return _render_label(request, find_label(labels, label_id), status=409)
    with suppress(NoSuchLabel):
        take_away(SHOP_MAILBOX, label_id)
        messages.success(request, text % {"name": label.name if label else ""})
    return redirect(page)


def _versions(label: Label) -> tuple[str, str]:
    """Return what a form saw of a label: its name and colour; for a form that empties or deletes it, its count, too."""
    shown = f"{label.color} {label.name}"
    return shown, f"{label.count} {shown}"


def _render_label(
    request: HttpRequest, label: Label, form: LabelForm | None = None, status: int = 200
) -> HttpResponse:
    version, empty_version = _versions(label)
    if form is None:
        form = LabelForm(initial={"name": label.name, "color": label.color, "version": version})
    elif status == 409:
        form.keep_typed(version=version)
    context = {
        "label": label,
        "form": form,
        "empty_version": empty_version,
        "is_stale": status == 409,
    }
    return render_page(request, "adminpanel/conversations/label.html", context, status=status)
