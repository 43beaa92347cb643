"""The test bank's own page. It knows only the values that the shop sent when it opened the payment."""

from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from cassandra_db import current_time
from demo.testbank import operations, queries
from demo.testbank.cards import CARDS, CODE
from demo.testbank.forms import CardForm, ChallengeCodeForm
from pricing.money import from_minor_units
from web.decorators import get_or_post, no_store, public
from web.rendering import without_header


@get_or_post
@without_header
@no_store
@public
def pay(request: HttpRequest, payment_id: UUID) -> HttpResponse:
    """Show the page that asks for a card, and for a code if the card needs one. Then redirect the payer to the shop."""
    payment = queries.get_payment(payment_id) if settings.DEMO or settings.DEBUG else None
    if payment is None:
        raise Http404("no such payment")
    if payment.state not in ("open", "asked"):
        return redirect(payment.return_url)
    if request.method == "POST" and "leave" in request.POST:
        operations.abandon_payment(payment_id, current_time())
        return redirect(payment.return_url)
    asks = payment.state == "asked"
    form = ChallengeCodeForm(request.POST or None) if asks else CardForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        if isinstance(form, ChallengeCodeForm):
            if not operations.submit_code(payment_id, form.cleaned_data["code"], current_time()):
                form.add_error("code", _("This code is wrong. Check it and try again."))
        else:
            operations.submit_card(payment_id, form.cleaned_data["card"], current_time())
        decided = queries.get_payment(payment_id)
        if decided is not None and decided.state == "asked" and not asks:
            return redirect("testbank:pay", payment_id)
        if decided is None or decided.state != "asked":
            return redirect(payment.return_url)
    context = {
        "form": form,
        "payment": payment,
        "amount": from_minor_units(payment.amount, payment.currency),
        "cards": CARDS,
        "code": CODE if asks else "",
    }
    return render(request, "demo/pay.html", context, status=422 if form.errors else 200)
