"""Pages of saved replies: list, add, change and delete them."""

from collections.abc import Mapping
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import MESSAGE_STAFF
from adminpanel.conversations.forms import SavedReplyForm
from adminpanel.settings.editing import edit_setting, get_posted, show_setting
from cassandra_db import current_time
from conversations.saved_replies import PARTITION, SAVED_REPLIES, SavedReply, list_replies
from shop_settings.errors import SettingChanged
from shop_settings.operations import remove_setting
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post, post_only
from web.rendering import render_page


def _get_replies() -> Mapping[str, SavedReply]:
    return get_settings_at_quorum(PARTITION).get_values(SAVED_REPLIES)


@staff_required(MESSAGE_STAFF)
@require_safe
def saved_replies(request: HttpRequest) -> HttpResponse:
    """List the saved replies by name."""
    context = {"replies": list_replies(get_settings_at_quorum(PARTITION))}
    return render_page(request, "adminpanel/conversations/saved_replies.html", context)


@staff_required(MESSAGE_STAFF, is_about_people=False)
@get_or_post
def create_saved_reply(request: HttpRequest) -> HttpResponse:
    """Add a saved reply."""
    form = SavedReplyForm(None, get_posted(request))
    key = str(form.cleaned_data["key"] or uuid4()) if form.is_valid() else ""
    return edit_setting(request, form, key, "adminpanel:saved_replies")


@staff_required(MESSAGE_STAFF, is_about_people=False)
@get_or_post
def saved_reply(request: HttpRequest, key: UUID) -> HttpResponse:
    """Show or change a saved reply. If somebody else deleted it, saving is a conflict (409), and saving once more restores it."""
    reply = _get_replies().get(str(key))
    if reply is None and request.method != "POST":
        raise Http404("no such reply")
    form = SavedReplyForm(reply, get_posted(request))
    return edit_setting(request, form, str(key), "adminpanel:saved_replies")


@staff_required(MESSAGE_STAFF, is_about_people=False)
@post_only("adminpanel:saved_reply", "key")
def remove_saved_reply(request: HttpRequest, key: UUID) -> HttpResponse:
    """Delete a saved reply that nobody has changed since the page was shown."""
    if reply := _get_replies().get(str(key)):
        try:
            seen = request.POST.get("version", "")
            remove_setting(SAVED_REPLIES, str(key), seen, current_time())
        except SettingChanged as changed:
            messages.error(request, str(changed))
            return show_setting(request, SavedReplyForm(reply), str(key), status=409)
        note_changes(request, {"name": reply.name}, {"name": ""})
        messages.success(request, _("The saved reply is deleted."))
    return redirect("adminpanel:saved_replies")
