"""Pages of staff accounts: an admin changes roles, ends sessions, and resets second factors."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import operations, queries
from accounts.access import current_member, note_changes, staff_required
from accounts.errors import LastAdmin, NoSuchUser, RoleChanged
from accounts.looks import CUSTOMER_LOOK, prefetch_looks, record_look
from accounts.models import User
from accounts.roles import ADMIN
from accounts.second_factor import get_second_factor
from accounts.sessions import end_sessions, list_sessions
from adminpanel.code_again import confirm_by_code
from adminpanel.forms import EmailForm
from adminpanel.names import get_user_or_404
from adminpanel.people.forms import StaffRoleForm
from adminpanel.templatetags.roles import role_label
from cassandra_db import current_time
from web.decorators import post_only
from web.forms import Form
from web.rendering import render_page

OWN_ACCOUNT = gettext_lazy("You can’t do this to your own account. Ask another admin.")


@staff_required((ADMIN,))
@require_safe
def staff_list(request: HttpRequest) -> HttpResponse:
    """List the accounts of the staff."""
    return _list_page(request, EmailForm())


@staff_required((ADMIN,))
@post_only("adminpanel:people")
def find_person(request: HttpRequest) -> HttpResponse:
    """Redirect to the account that has an email address. A POST keeps the address out of URLs."""
    form = EmailForm(request.POST)
    if form.is_valid():
        if found := queries.find_user_by_email(form.cleaned_data["email"]):
            return redirect("adminpanel:person", found.pk)
        form.add_error(
            "email", _("No account has this email address. Its owner has to register first.")
        )
    return _list_page(request, form, status=422)


def _list_page(request: HttpRequest, form: EmailForm, status: int = 200) -> HttpResponse:
    context = {"staff": queries.list_staff(), "form": form}
    return render_page(request, "adminpanel/people/people.html", context, status=status)


@staff_required((ADMIN,))
@require_safe
def person_detail(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Show a user's role and access. If the user is a customer, the audit log gets an entry about the view."""
    admin, now = current_member(request), current_time()
    looks, found = prefetch_looks(admin, now), get_user_or_404(user_id)
    if not found.role:
        record_look(admin, CUSTOMER_LOOK, str(user_id), looks, now)
    return _page(request, found)


@sensitive_post_parameters("code")
@staff_required((ADMIN,))
@post_only("adminpanel:person", "user_id")
def change_person_role(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Change a user's role, which also ends the user's sessions."""
    found, form = get_user_or_404(user_id), StaffRoleForm(request.POST)
    if found == current_member(request):
        form.add_error(None, OWN_ACCOUNT)
    elif form.is_valid() and confirm_by_code(request, form):
        role = form.cleaned_data["role"]
        try:
            operations.set_role(user_id, role, current_time(), seen=form.cleaned_data["seen"])
        except RoleChanged as error:
            messages.error(request, str(error))
            return _page(request, get_user_or_404(user_id), status=409)
        except LastAdmin as error:
            form.add_error(None, str(error))
        except NoSuchUser as error:
            raise Http404 from error
        else:
            note_changes(request, {"role": found.role or "none"}, {"role": role or "none"})
            said = _("The role is now %(role)s. This person has to sign in again.")
            messages.success(request, said % {"role": role_label(role)})
            return redirect("adminpanel:person", user_id)
    return _page(request, found, form)


@staff_required((ADMIN,))
@post_only("adminpanel:person", "user_id")
def end_person_sessions(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """End all sessions of a user."""
    found = get_user_or_404(user_id)
    count = end_sessions(user_id)
    note_changes(request, {"sessions": count}, {"sessions": 0})
    if found == current_member(request):
        return redirect("accounts:login")
    ended = ngettext("%(count)s session ended.", "%(count)s sessions ended.", count)
    messages.success(request, ended % {"count": count})
    return redirect("adminpanel:person", user_id)


@sensitive_post_parameters("code")
@staff_required((ADMIN,))
@post_only("adminpanel:person", "user_id")
def reset_person_second_factor(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Remove a user's second factor, and end the user's sessions. At the next login the user enrols a new one."""
    found, form = get_user_or_404(user_id), Form({})
    if found == current_member(request):
        form.add_error(None, OWN_ACCOUNT)
    if not (form.is_valid() and confirm_by_code(request, form)):
        return _page(request, found, reset_form=form)
    had_one = operations.reset_second_factor(found, current_time())
    note_changes(request, {"second factor": had_one}, {"second factor": False})
    messages.success(
        request, _("Two-step sign-in reset. This person sets it up again at the next sign-in.")
    )
    return redirect("adminpanel:person", user_id)


def _page(
    request: HttpRequest,
    person: User,
    form: StaffRoleForm | None = None,
    *,
    reset_form: Form | None = None,
    status: int = 0,
) -> HttpResponse:
    context: dict[str, Any] = {
        "person": person,
        "own": person == current_member(request),
        "form": form
        or StaffRoleForm(initial={"role": person.role or "shopper", "seen": person.role}),
        "reset_form": reset_form,
        "factor": get_second_factor(person.pk),
        "sessions": list_sessions(person.pk, request.session.session_key),
        "now": current_time(),
    }
    status = status or (422 if form or reset_form else 200)
    return render_page(request, "adminpanel/people/person.html", context, status=status)
