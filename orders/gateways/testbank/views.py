"""The bank's own page. It knows nothing of the shop but what the shop told it when the payment was opened."""

from datetime import UTC, datetime
from uuid import UUID

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from catalogue.money import money
from orders.gateways.testbank import operations, queries
from orders.gateways.testbank.forms import CardForm
from web.methods import get_or_post
from web.rendering import without_header

CARDS = (
    ("4242 4242 4242 4242", "is approved"),
    ("4000 0000 0000 0002", "is declined"),
    ("4000 0000 0000 0341", "is approved, but the bank takes its time to say so"),
    ("4000 0000 0000 0259", "gets no answer, until the time to pay is over"),
)


@get_or_post
@never_cache
@without_header
def pay(request: HttpRequest, payment_id: UUID) -> HttpResponse:
    """Ask for a card, decide, and send the payer back to where the payment came from."""
    payment = queries.payment(payment_id) if settings.SHOWROOM or settings.DEBUG else None
    if payment is None:
        raise Http404("no such payment")
    if payment.state != "open":
        return redirect(payment.return_url)
    if request.method == "POST" and "leave" in request.POST:
        operations.payment_given_up(payment_id)
        return redirect(payment.return_url)
    form = CardForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        operations.card_given(payment_id, form.cleaned_data["card"], datetime.now(UTC))
        return redirect(payment.return_url)
    context = {"form": form, "payment": payment, "amount": money(payment.amount, payment.currency), "cards": CARDS}
    return render(request, "testbank/pay.html", context, status=422 if form.errors else 200)
