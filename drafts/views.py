"""The page behind an offer's link, on which its customer orders and pays."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import current_time
from checkout.changes import describe_changed_terms
from checkout.payment_methods import list_payment_methods
from drafts import operations, queries
from drafts.entities import ACCEPTED, OPEN, DraftOrder
from drafts.errors import DraftChanged, OfferOutdated
from drafts.links import is_offer_link_expired, parse_offer_token
from inventory.errors import OutOfStock
from orders.access import remember_guest_order
from orders.expired_link import expired_link_page
from orders.lifecycle.entities import Order
from orders.lifecycle.errors import (
    CheckoutAbandoned,
    CheckoutBusy,
    CheckoutUsed,
    CustomerRefused,
    TooManyUnpaidUnits,
)
from orders.payment_redirect import redirect_to_payment
from orders.queries import get_order
from payments.errors import GatewayUnavailable
from pricing.tax import get_tax_rates
from text_pages.queries import get_terms_version
from web.decorators import get_or_post, owner_only
from web.forms import Form
from web.rate_limits import list_networks
from web.rendering import render_page


class PaymentForm(Form):
    """The form that selects the payment method for an offer."""

    payment = forms.ChoiceField(
        label=gettext_lazy("Payment"),
        widget=forms.RadioSelect,
        error_messages={
            "required": gettext_lazy("Choose a payment method"),
            "invalid_choice": gettext_lazy("Choose one of these payment methods"),
        },
    )

    def __init__(self, country: str, *args: Any, **kwargs: Any) -> None:
        self.methods = list_payment_methods(country)
        kwargs["initial"] = {"payment": self.methods[0].code if self.methods else ""}
        super().__init__(*args, **kwargs)
        self.fields["payment"].choices = [(each.code, each.name) for each in self.methods]  # type: ignore[attr-defined]


@get_or_post
@owner_only
def offer(request: HttpRequest, token: str) -> HttpResponse:
    """Show an offer, and place it as an order when the form is sent. If it was accepted before, redirect to its order."""
    named = parse_offer_token(token)
    draft = queries.get_draft(named[0]) if named else None
    if named is None or draft is None or draft.version != named[1] or draft.state == OPEN:
        return _over(
            request,
            _("This offer is no longer there"),
            _("It may have been changed. Use the link in our latest email, or write to us."),
        )
    if draft.state == ACCEPTED and draft.order_id and (order := get_order(draft.order_id)):
        if is_offer_link_expired(token):
            return expired_link_page(request)
        return _redirect_to_order(request, order)
    assert draft.offer
    now = current_time()
    if now >= draft.offer.until:
        return _expired(request)
    form = PaymentForm(draft.address.country, request.POST if request.method == "POST" else None)
    if request.method != "POST" or not form.is_valid():
        return _offer_page(request, token, draft, form, status=422 if form.is_bound else 200)
    terms = get_terms_version(now)
    if request.POST.get("terms") != str(terms):
        return _offer_page(request, token, draft, form, [describe_changed_terms()], 409)
    try:
        order = operations.accept_offer(
            draft, form.cleaned_data["payment"], now, list_networks(request), terms
        )
    except CheckoutUsed as used:
        return _redirect_to_order(request, used.order)
    except OutOfStock as short:
        return _offer_page(request, token, draft, form, _describe_shortages(draft, short), 409)
    except (DraftChanged, CheckoutAbandoned):
        return redirect("drafts:offer", token)
    except OfferOutdated:
        return _expired(request)
    except CheckoutBusy:
        words = _("Your order is being placed. Try again in a few seconds.")
        return _offer_page(request, token, draft, form, [words], 409)
    except (CustomerRefused, TooManyUnpaidUnits, GatewayUnavailable) as refused:
        return _offer_page(request, token, draft, form, [str(refused)], 409)
    return redirect_to_payment(request, order)


def _offer_page(
    request: HttpRequest,
    token: str,
    draft: DraftOrder,
    form: PaymentForm,
    problems: list[str] | None = None,
    status: int = 200,
) -> HttpResponse:
    assert draft.offer
    context = {
        "token": token,
        "draft": draft,
        "method": draft.offer.method,
        "sums": operations.compute_sums(
            draft, draft.offer.method, get_tax_rates(draft.address.country)
        ),
        "form": form,
        "problems": problems or [],
        "terms_version": get_terms_version(current_time()),
    }
    return render_page(request, "drafts/offer.html", context, status=status)


def _describe_shortages(draft: DraftOrder, short: OutOfStock) -> list[str]:
    return [
        _(
            "Only %(left)s of %(item)s are left; the offer has %(wanted)s. Write to us, and we’ll change it."
        )
        % {"left": left, "item": line.label, "wanted": line.quantity}
        if (left := short.shortages[line.variant_id])
        else _("%(item)s is sold out. Write to us, and we’ll change the offer.")
        % {"item": line.label}
        for line in draft.lines
        if line.variant_id in short.shortages
    ]


def _redirect_to_order(request: HttpRequest, order: Order) -> HttpResponse:
    """Redirect to the order of an offer, and let this browser open the order: only the customer's mail has the offer's link."""
    response = redirect("orders:detail", order.number)
    remember_guest_order(request, response, order)
    return response


def _expired(request: HttpRequest) -> HttpResponse:
    return _over(
        request, _("This offer has expired"), _("Write to us, and we’ll make you a new one.")
    )


def _over(request: HttpRequest, title: str, text: str) -> HttpResponse:
    return render_page(
        request, "drafts/offer_over.html", {"title": title, "text": text}, status=410
    )
