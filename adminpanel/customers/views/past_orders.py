"""The page of orders from a former shop: those of a customer, and those that a search finds."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.audit_log import mailbox_pseudonym, words_pseudonym
from accounts.looks import CUSTOMER_LOOK, prefetch_looks, record_look
from adminpanel.customers.forms import PastOrderSearchForm
from adminpanel.customers.pages import CUSTOMER_STAFF
from adminpanel.names import get_user_or_404
from adminpanel.parameters import parse_id, seal, unseal
from cassandra_db import current_time
from past_orders.entities import PastOrder
from past_orders.queries import list_past_orders, search_past_orders
from web.decorators import post_only
from web.rendering import render_page


@staff_required(CUSTOMER_STAFF)
@require_safe
def past_orders(request: HttpRequest) -> HttpResponse:
    """Show the newest past orders of a customer, or those that a search finds. The audit log gets an entry."""
    typed, orders = unseal(request.GET.get("sealed", "")), list[PastOrder]()
    staff, now = current_member(request), current_time()
    looks = prefetch_looks(staff, now)
    if customer_id := parse_id(request.GET.get("customer", "")):
        customer = get_user_or_404(customer_id)
        record_look(staff, CUSTOMER_LOOK, str(customer_id), looks, now)
        # Until the address is proved, its orders have no owner.
        found = (*list_past_orders(customer_id)[0], *search_past_orders(customer.email))
        orders = list({each.order_id: each for each in found}.values())
    elif typed:
        subject = mailbox_pseudonym(typed) if "@" in typed else words_pseudonym(typed)
        record_look(staff, "person_searched", subject, looks, now)
        orders = search_past_orders(typed)
    context = {
        "form": PastOrderSearchForm(initial={"q": typed}),
        "orders": orders,
        "is_searched": bool(typed or customer_id),
    }
    return render_page(request, "adminpanel/customers/past_orders.html", context)


@staff_required(CUSTOMER_STAFF, only_reads=True)
@post_only("adminpanel:past_orders")
def past_order_find(request: HttpRequest) -> HttpResponse:
    """Lead to what a search finds. A POST keeps names and addresses out of URLs."""
    form = PastOrderSearchForm(request.POST)
    if not form.is_valid():
        context = {"form": form, "orders": (), "is_searched": False}
        return render_page(request, "adminpanel/customers/past_orders.html", context, status=422)
    query = urlencode({"sealed": seal(form.cleaned_data["q"])})
    return redirect(f"{reverse('adminpanel:past_orders')}?{query}")
