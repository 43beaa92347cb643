"""Pages of customers: orders, mails and notes; block or delete a customer, or send their data."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts import operations
from accounts.access import current_member, note_changes, staff_required
from accounts.errors import BlockChanged, BlockRefused, NoSuchUser, TooManyNotes
from accounts.looks import prefetch_looks
from accounts.personal_data_file import answer_with_personal_data
from adminpanel.code_again import confirm_by_code
from adminpanel.customers.forms import BlockForm, CustomerNoteForm, EraseForm, UnblockForm
from adminpanel.customers.pages import CUSTOMER_STAFF, get_customer_page
from adminpanel.names import get_user_or_404
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from web import personal_data
from web.decorators import post_only
from web.forms import Form
from web.rendering import render_page


@staff_required(CUSTOMER_STAFF)
@require_safe
def customer_detail(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Show a customer's page. The audit log gets an entry about the visit to the page."""
    year = request.GET.get("year", "")
    return _render_customer(
        request, user_id, year=int(year) if year.isdecimal() and len(year) == 4 else None
    )


@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customer", "user_id")
def note_on_customer(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Add a staff note on a customer."""
    form = CustomerNoteForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            operations.add_customer_note(
                user_id,
                sent["note_id"],
                sent["customer_note"],
                author=current_member(request).name,
                now=current_time(),
            )
        except TooManyNotes as error:
            form.add_error("customer_note", str(error))
        except NoSuchUser as error:
            raise Http404 from error
        else:
            messages.success(request, _("Note added."))
            return redirect("adminpanel:customer", user_id)
    return _render_customer(request, user_id, note_form=form, wrong=form, status=422)


@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customer", "user_id")
def block_customer(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Stop a customer from placing orders."""
    form, status = BlockForm(request.POST), 422
    if form.is_valid():
        try:
            operations.block_customer(
                user_id,
                form.cleaned_data["block_reason"],
                by=current_member(request).name,
                now=current_time(),
            )
        except BlockRefused as error:
            form.add_error(None, str(error))
        except BlockChanged:
            status = 409
        except NoSuchUser as error:
            raise Http404 from error
        else:
            note_changes(request, {"blocked": False}, {"blocked": True})
            messages.success(request, _("This customer can’t place orders any more."))
            return redirect("adminpanel:customer", user_id)
    return _render_customer(
        request, user_id, block_form=form, wrong=form if status == 422 else None, status=status
    )


@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customer", "user_id")
def unblock_customer(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Let a blocked customer place orders again."""
    form = UnblockForm(request.POST)
    if not form.is_valid():
        # The form's only field is hidden. If it is invalid, the page was stale.
        return _render_customer(request, user_id, status=409)
    try:
        operations.unblock_customer(user_id, form.cleaned_data["seen"])
    except BlockChanged:
        return _render_customer(request, user_id, status=409)
    except NoSuchUser as error:
        raise Http404 from error
    note_changes(request, {"blocked": True}, {"blocked": False})
    messages.success(request, _("This customer can place orders again."))
    return redirect("adminpanel:customer", user_id)


@sensitive_post_parameters("code")
@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customer", "user_id")
def export_customer(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Send all data about a customer, as the customer could download them."""
    customer, form = get_user_or_404(user_id), Form({}, auto_id="export-%s")
    if customer.role:
        form.add_error(None, _("People with a role download their data themselves."))
    if not (form.is_valid() and confirm_by_code(request, form)):
        return _render_customer(request, user_id, export_form=form, wrong=form, status=422)
    return answer_with_personal_data(customer)


@sensitive_post_parameters("code")
@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customer", "user_id")
def erase_customer(request: HttpRequest, user_id: UUID) -> HttpResponse:
    """Delete a customer's account, as the customer could delete it."""
    customer = get_user_or_404(user_id)
    form = EraseForm(request.POST, customer_email=customer.email)
    if form.is_valid():
        for sentence in personal_data.list_erasure_obstacles(operations.person_from_user(customer)):
            form.add_error(None, sentence)
    if not (form.is_valid() and confirm_by_code(request, form)):
        return _render_customer(request, user_id, erase_form=form, wrong=form, status=422)
    try:
        operations.request_erasure(user_id, current_time())
    except NoSuchUser:
        # The account has just got a role. Show its present page.
        return _render_customer(request, user_id, status=409)
    messages.success(
        request, _("The account is being deleted. Personal data is removed within minutes.")
    )
    return redirect("adminpanel:customers")


def _render_customer(
    request: HttpRequest, user_id: UUID, *, year: int | None = None, status: int = 200, **more: Any
) -> HttpResponse:
    """Return a customer's page. Its status is 422 if a form is invalid, 409 if somebody else changed the customer first."""
    staff, now = current_member(request), current_time()
    looks = prefetch_looks(staff, now)
    page = found_or_404(get_customer_page(user_id, now, year), "customer")
    operations.record_customer_look(staff, user_id, looks, now)
    customer = page.customer
    context: dict[str, Any] = {
        "page": page,
        "customer": customer,
        "note_form": CustomerNoteForm(),
        "block_form": BlockForm(),
        "unblock_form": UnblockForm(
            initial={"seen": customer.blocked_at.isoformat() if customer.blocked_at else ""}
        ),
        "erase_form": EraseForm(customer_email=customer.email),
        "export_form": None,
        "is_stale": status == 409,
        **more,
    }
    return render_page(request, "adminpanel/customers/customer.html", context, status=status)
