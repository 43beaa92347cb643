"""The tags of an order."""

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _

from accounts.access import current_member, staff_required
from accounts.roles import ORDER_STAFF
from adminpanel.orders.forms import TagForm
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.order_page import get_order_page
from adminpanel.orders.rendering import render_conflict, render_order_page
from adminpanel.orders.submits import answer_submit, order_submit
from cassandra_db import current_time
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import OrderChanged, TooManyTags
from orders.operations import change_tags
from web.decorators import post_only


@staff_required(ORDER_STAFF)
@post_only("adminpanel:order", "number")
@order_submit
def change_order_tags(request: HttpRequest, found: Order) -> HttpResponse:
    """Add tags to an order, or remove one."""
    form = TagForm(request.POST)
    if form.is_valid():
        sent = form.cleaned_data
        try:
            changed = change_tags(
                found,
                sent["add"],
                [sent["remove"]] if sent["remove"] else [],
                actor=staff_actor(current_member(request)),
                now=current_time(),
            )
        except TooManyTags as error:
            form.add_error("add", str(error))
        except OrderChanged as error:
            typed = form["add"].value()
            return render_conflict(request, error, typed=[(_("Add tags"), typed)] if typed else ())
        else:
            return answer_submit(request, changed, before=found)
    return render_order_page(request, get_order_page(found), tag_form=form, status=422)
