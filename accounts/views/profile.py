"""The pages of a member's name, telephone number and preferences."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts import operations
from accounts.access import current_member, member_required
from accounts.forms import PreferencesForm, ProfileForm
from web.decorators import get_or_post
from web.rendering import render_page


@get_or_post
@member_required
def profile(request: HttpRequest) -> HttpResponse:
    """Show a member's name and telephone number, and change them on submit."""
    user = current_member(request)
    known = {"name": user.name, "phone": user.phone or ""}
    form = ProfileForm(request.POST if request.method == "POST" else None, initial=known)
    if form.is_valid():
        operations.save_profile(user.pk, form.cleaned_data["name"], form.cleaned_data["phone"])
        messages.success(request, _("Your details were saved."))
        return redirect("accounts:profile")
    return render_page(
        request, "accounts/profile.html", {"form": form}, status=422 if form.is_bound else 200
    )


@get_or_post
@member_required
def preferences(request: HttpRequest) -> HttpResponse:
    """Show the form of the member's preferences, and change them on submit."""
    user = current_member(request)
    known = {"country": user.delivery_country or "", "plain_mail": bool(user.plain_mail)}
    form = PreferencesForm(request.POST if request.method == "POST" else None, initial=known)
    if form.is_valid():
        chosen = form.cleaned_data
        operations.save_preferences(user.pk, chosen["country"], plain_mail=chosen["plain_mail"])
        messages.success(request, _("Preferences saved."))
        return redirect("accounts:preferences")
    return render_page(
        request, "accounts/preferences.html", {"form": form}, status=422 if form.is_bound else 200
    )
