"""Pages of the list of customers: filter it, find a customer by email address, and export it."""

from typing import Any
from urllib.parse import urlencode

from cassandra.util import uuid_from_time
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.queries import find_user_by_email
from adminpanel.code_again import confirm_by_code
from adminpanel.customers.forms import CustomerFileForm, CustomerFilterForm
from adminpanel.customers.list_page import get_customer_list, list_filter_fields
from adminpanel.customers.pages import CUSTOMER_STAFF, list_guest_orders
from adminpanel.file_states import renew_if_old
from adminpanel.forms import EmailForm
from adminpanel.orders.papers import file_id_of
from cassandra_db import InvalidPageToken, current_time
from orders.papers.order_files import ORDER_FILES
from spreadsheets.operations import start_order_file
from web.decorators import post_only
from web.rendering import render_page

KIND = ORDER_FILES["customers"]


@staff_required(CUSTOMER_STAFF)
@require_safe
def customer_list(request: HttpRequest) -> HttpResponse:
    """List the customers by last order. Filters and a form find others."""
    try:
        return _render_list(request, CustomerFilterForm(request.GET))
    except InvalidPageToken:
        return redirect("adminpanel:customers")


@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customers")
def find_customer(request: HttpRequest) -> HttpResponse:
    """Find a customer, or a guest's orders, by an email address. A POST keeps the address out of URLs."""
    form, unfiltered = EmailForm(request.POST), CustomerFilterForm(QueryDict())
    if form.is_valid():
        email = form.cleaned_data["email"]
        if found := find_user_by_email(email):
            return redirect("adminpanel:customer", found.pk)
        if orders := list_guest_orders(email):
            return _render_list(
                request, unfiltered, form=form, guest_email=email, guest_orders=orders
            )
        form.add_error("email", _("No account and no order has this email address."))
    return _render_list(request, unfiltered, form=form, status=422)


@sensitive_post_parameters("code")
@staff_required(CUSTOMER_STAFF)
@post_only("adminpanel:customers")
def export_customers(request: HttpRequest) -> HttpResponse:
    """Let the worker write a file of all customers that the filter finds. Asks for a second-factor code."""
    chosen, form = CustomerFilterForm(request.POST), CustomerFileForm(request.POST)
    if chosen.is_refused or not form.is_valid() or not confirm_by_code(request, form):
        return _render_list(request, chosen, file_form=form, status=422)
    found, now = chosen.build_filter(), current_time()
    fields = list_filter_fields(found)
    form_id = renew_if_old(form.cleaned_data["file_id"], now)
    task = start_order_file(
        file_id_of(form_id, KIND.name, fields), KIND, found, current_member(request).user_id, now
    )
    note_changes(request, {}, {"file": task.file_name, **dict(fields)})
    return redirect("adminpanel:paper", file_id=task.task_id)


def _render_list(
    request: HttpRequest, chosen: CustomerFilterForm, *, status: int = 200, **more: Any
) -> HttpResponse:
    """Return the list. Its status is 422 if a form is invalid. Raises InvalidPageToken."""
    found = None if chosen.is_refused else chosen.build_filter()
    after = request.GET.get("after", "")[:500]
    fields = list_filter_fields(found) if found else []
    page = get_customer_list(current_member(request).pk, found, after)
    context = {
        "page": page,
        "form": EmailForm(),
        "file_form": CustomerFileForm(initial={"file_id": uuid_from_time(current_time())}),
        "filter": chosen,
        "selection": fields,
        "next_query": urlencode([*fields, ("after", page.next)]) if page.next else "",
        "is_continued": bool(after),
        **more,
    }
    status = 422 if chosen.is_refused else status
    return render_page(request, "adminpanel/customers/customers.html", context, status=status)
