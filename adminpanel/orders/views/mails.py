"""Pages of the mails about an order: show one, or send it again."""

import re
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, staff_required
from accounts.looks import ORDER_LOOK, prefetch_looks, record_look
from accounts.roles import MAIL_STAFF
from adminpanel.orders.forms import MailAgainForm
from adminpanel.orders.labels import staff_actor
from adminpanel.orders.order_page import get_order_or_404
from adminpanel.orders.submits import answer_submit, order_submit
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from mail import fates
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import MailRefused
from orders.operations.resent_mails import get_order_mail, resend_mail
from orders.presentation import last_event_id
from orders.submits import derive_submit_id
from web.decorators import post_only
from web.rendering import render_page

# Only the receiver of a mail may use its links.
_LINK = re.compile(r"https?://\S+")


@staff_required(MAIL_STAFF)
@require_safe
def order_mail(request: HttpRequest, number: str, mail_id: UUID) -> HttpResponse:
    """Show a mail about an order, without its links."""
    staff, now = current_member(request), current_time()
    looks, found = prefetch_looks(staff, now), get_order_or_404(number)
    record_look(staff, ORDER_LOOK, found.number, looks, now)
    return _mail_page(request, found, mail_id)


@staff_required(MAIL_STAFF)
@post_only("adminpanel:order_mail", "number", "mail_id")
@order_submit
def send_mail_again(request: HttpRequest, found: Order, mail_id: UUID) -> HttpResponse:
    """Send an unchanged copy of a mail to the present email address of the order."""
    try:
        changed = resend_mail(
            found,
            mail_id,
            actor=staff_actor(current_member(request)),
            submit_id=derive_submit_id(request, found),
            now=current_time(),
        )
    except MailRefused as error:
        form = MailAgainForm(request.POST)
        form.add_error(None, str(error))
        return _mail_page(request, found, mail_id, form, status=422)
    return answer_submit(request, changed, before=found)


def _mail_page(
    request: HttpRequest,
    order: Order,
    mail_id: UUID,
    form: MailAgainForm | None = None,
    status: int = 200,
) -> HttpResponse:
    mail = found_or_404(get_order_mail(order, mail_id), "mail")
    label, tone = fates.LABELS[fates.get_fate(mail)]
    context = {
        "order": order,
        "mail": mail,
        "label": label,
        "tone": tone,
        "text": _LINK.sub(_("[link]"), mail.text) if mail.text else "",
        "form": form or MailAgainForm(initial={"seen": last_event_id(order)}),
    }
    return render_page(request, "adminpanel/orders/order_mail.html", context, status=status)
