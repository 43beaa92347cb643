"""The page on which a member chooses what they are told."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts import operations
from accounts.access import current_member, member_required
from accounts.forms import NotificationChoicesForm
from notifications.kinds import get_kinds
from web.decorators import get_or_post
from web.rendering import render_page


@get_or_post
@member_required
def notification_choices(request: HttpRequest) -> HttpResponse:
    """Show the form of what a member is told where, and change it on submit."""
    user = current_member(request)
    known = {name: kind.choose(user.notification_choices) for name, kind in get_kinds().items()}
    form = NotificationChoicesForm(
        request.POST if request.method == "POST" else None, initial=known
    )
    if form.is_valid():
        operations.save_notification_choices(user.pk, form.cleaned_data)
        messages.success(request, _("Your choices are saved."))
        return redirect("accounts:notification_choices")
    return render_page(
        request,
        "accounts/notification_choices.html",
        {"form": form},
        status=422 if form.is_bound else 200,
    )
