"""Pages of the books: a month, its invoices as a file, the open invoices, and the payments without an order."""

from datetime import date
from http import HTTPStatus
from uuid import UUID

from cassandra.util import uuid_from_time
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_safe

from accounts.access import current_member, has_permission, note_changes, staff_required
from accounts.roles import ADMIN, MONEY_STAFF
from adminpanel.books.forms import InvoicesForm, MonthForm
from adminpanel.books.pages import (
    BooksPage,
    get_books_page,
    get_open_invoices,
    list_difference_rows,
    list_invoice_rows,
    list_payment_rows,
    list_tax_rows,
    list_unmatched_lines,
)
from adminpanel.code_again import confirm_by_code
from adminpanel.file_states import renew_if_old, send_csv
from adminpanel.orders.refund_permission import confirm_refund
from adminpanel.parameters import cut_page, found_or_404
from analytics.days import shop_today
from cassandra_db import current_time
from orders.papers.order_files import ORDER_FILES, InvoicesOfMonth
from payments import operations as payments
from payments.errors import GatewayMissing, GatewayUnavailable
from payments.queries import get_unmatched_payment
from pricing.money import to_minor_units
from pricing.templatetags.money import format_money
from spreadsheets import operations
from web.decorators import post_only
from web.forms import Form
from web.rendering import render_page

BOOK_STAFF = ("analyst", *MONEY_STAFF, ADMIN)
_ROWS = {"taxes": list_tax_rows, "payments": list_payment_rows, "differences": list_difference_rows}
PAGE_LENGTH = 100


@staff_required(BOOK_STAFF)
@require_safe
def books_month(request: HttpRequest) -> HttpResponse:
    """Show the books of a month, by default the current one. `format` sends one of its tables as a file."""
    form = MonthForm(request.GET)
    if not form.is_valid():
        context: dict[str, object] = {"form": form}
        return render_page(request, "adminpanel/books/books.html", context, status=422)
    page = get_books_page(form.get_month())
    if list_rows := _ROWS.get(kind := request.GET.get("format", "")):
        return send_csv(f"{kind}-{page.month:%Y-%m}.csv", list_rows(page))
    return _show_month(request, page)


def _show_month(
    request: HttpRequest, page: BooksPage, invoices_form: InvoicesForm | None = None
) -> HttpResponse:
    member = current_member(request)
    shown = f"{page.month:%Y-%m}"
    initial = {"file_id": uuid_from_time(current_time()), "month": shown}
    context = {
        "form": MonthForm(initial={"month": shown}),
        "books": page,
        "today": shop_today(),
        "query": f"month={shown}",
        "can_open_orders": has_permission(member, "adminpanel.order"),
        "can_see_value": has_permission(member, "adminpanel.stock_value"),
        "can_make_invoices": has_permission(member, "adminpanel.book_invoices"),
        "invoices_form": invoices_form or InvoicesForm(initial=initial),
    }
    status = 422 if invoices_form else 200
    return render_page(request, "adminpanel/books/books.html", context, status=status)


# The invoices contain names and addresses, so this asks for a code, as the file's page does.
@sensitive_post_parameters("code")
@staff_required(MONEY_STAFF, is_about_people=False)
@post_only("adminpanel:books")
def book_invoices(request: HttpRequest) -> HttpResponse:
    """Let the worker write the invoices of a month into a file."""
    form = InvoicesForm(request.POST)
    if not form.is_valid():
        return redirect("adminpanel:books")
    month: date = form.cleaned_data["month"]
    if not confirm_by_code(request, form):
        return _show_month(request, get_books_page(month), form)
    now = current_time()
    file_id = renew_if_old(form.cleaned_data["file_id"], now)
    task = operations.start_order_file(
        file_id,
        ORDER_FILES["invoices"],
        InvoicesOfMonth(month),
        current_member(request).user_id,
        now,
    )
    note_changes(request, {}, {"file": task.file_name, "month": f"{month:%Y-%m}"})
    return redirect("adminpanel:paper", file_id=task.task_id)


@staff_required(BOOK_STAFF)
@require_safe
def open_invoices(request: HttpRequest) -> HttpResponse:
    """List the open invoices by due day, or only the overdue ones. With `format=csv`, send them as a file."""
    only_overdue = request.GET.get("only") == "overdue"
    page = get_open_invoices(shop_today(), only_overdue=only_overdue)
    if request.GET.get("format") == "csv":
        rows = list_invoice_rows(page, only_overdue=only_overdue)
        return send_csv(f"open-invoices-{shop_today()}.csv", rows)
    lines, number, count = cut_page(page.lines, request.GET, PAGE_LENGTH)
    context = {
        "invoices": page,
        "lines": lines,
        "page": number,
        "page_count": count,
        "only_overdue": only_overdue,
        "can_open_orders": has_permission(current_member(request), "adminpanel.order"),
    }
    return render_page(request, "adminpanel/books/open_invoices.html", context)


@staff_required(MONEY_STAFF)
@require_safe
def unmatched_payments(request: HttpRequest) -> HttpResponse:
    """List the payments that have no order since a restore, and the orders whose money has to be looked up."""
    return _show_unmatched(request)


def _show_unmatched(request: HttpRequest, status: int = 200, **more: object) -> HttpResponse:
    lines, number, count = cut_page(list_unmatched_lines(), request.GET, PAGE_LENGTH)
    context = {
        "payments": [line for line in lines if not line.payment.is_manual],
        "manual": [line for line in lines if line.payment.is_manual],
        "page": number,
        "page_count": count,
        **more,
    }
    return render_page(request, "adminpanel/books/unmatched_payments.html", context, status=status)


@sensitive_post_parameters("code")
@staff_required(MONEY_STAFF, is_about_people=False)
@post_only("adminpanel:unmatched_payments")
def settle_unmatched_payment(request: HttpRequest, payment_id: UUID) -> HttpResponse:
    """Give back a payment without an order, or tick off an order whose money was looked up. A large refund asks for a code."""
    found, form = found_or_404(get_unmatched_payment(payment_id), "payment"), Form(request.POST)
    if not found.is_open:
        return redirect("adminpanel:unmatched_payments")
    cents = 0 if found.is_manual else to_minor_units(found.amount)
    if not confirm_refund(request, form, cents, cents):
        return _show_unmatched(request, 422, form=form, asked=found)
    try:
        state = payments.settle_unmatched_payment(
            found, current_member(request).user_id, current_time()
        )
    except (GatewayMissing, LookupError):
        unknown = _("This shop’s account at the payment provider doesn’t have this payment.")
        return _show_unmatched(request, HTTPStatus.CONFLICT, error=unknown)
    except GatewayUnavailable as error:
        return _show_unmatched(request, HTTPStatus.SERVICE_UNAVAILABLE, error=str(error))
    note_changes(request, {"state": "open"}, {"state": state, "order": found.number})
    refunded = _("The payment of %(amount)s for order %(number)s is refunded.")
    done = _("Order %(number)s is checked.") if found.is_manual else refunded
    messages.success(request, done % {"number": found.number, "amount": format_money(found.amount)})
    return redirect("adminpanel:unmatched_payments")
