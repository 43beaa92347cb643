"""The checkout's pages: its steps, and pages for carts that cannot be ordered any more."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from accounts import queries as accounts
from cassandra_db import current_time
from checkout.changes import describe_changes
from checkout.form_cookie import FIELD_NAMES
from checkout.forms import BillingForm, CheckoutForm
from checkout.orderable_cart import OrderableCart
from checkout.snapshot import CheckoutSnapshot
from checkout.steps import DETAILS, REVIEW, step_url
from checkout.visit import CheckoutVisit
from orders import operations
from orders.access import remember_guest_order
from orders.lifecycle.entities import Order
from payments.methods import CARD
from pricing.delivery_words import describe_delivery_price
from pricing.money import to_minor_units
from pricing.quotes import lines_weight
from web.rendering import render_page

# The seconds after which the page of an order that is being placed submits the order again.
ASK_AGAIN_AFTER = 3


def step_template(step: str) -> str:
    """Return the name of a step's template."""
    return f"checkout/{step}.html"


def step_page(
    request: HttpRequest,
    visit: CheckoutVisit,
    step: str,
    orderable: OrderableCart,
    *,
    previous_snapshot: CheckoutSnapshot | None = None,
    extra_messages: Sequence[str] = (),
    errors: bool = False,
    status: int = 200,
) -> HttpResponse:
    """Return the page of a step at today's prices, with sentences about the changes since `previous_snapshot`.

    `extra_messages` are shown before these sentences. `errors` shows the form's errors.
    """
    if not orderable.lines:
        return render_page(
            request,
            "checkout/nothing.html",
            {"reasons": list(orderable.reasons.values())},
            status=409,
        )
    snapshot = visit.take_snapshot(orderable, step)
    changes = [
        *extra_messages,
        *_describe_changes(visit, orderable, previous_snapshot, snapshot, counted=status == 409),
    ]
    context = step_context(request, visit, step, orderable, snapshot, errors=errors) | {
        "changes": changes
    }
    return render_page(request, step_template(step), context, status=status)


def step_context(
    request: HttpRequest,
    visit: CheckoutVisit,
    step: str,
    orderable: OrderableCart,
    snapshot: CheckoutSnapshot,
    *,
    errors: bool = False,
) -> dict[str, Any]:
    """Return the context of a step's template. The page's form contains the token of `snapshot`."""
    return (
        _orderable_context(visit, step, orderable)
        | _form_context(request.POST, visit, step, errors=errors)
        | {"checkout": snapshot.to_token(), "terms_version": snapshot.terms}
    )


def _describe_changes(
    visit: CheckoutVisit,
    orderable: OrderableCart,
    previous_snapshot: CheckoutSnapshot | None,
    snapshot: CheckoutSnapshot,
    *,
    counted: bool,
) -> Sequence[str]:
    """Return sentences about the changes since the shown page. With `counted` (an order was submitted) these include sums and fields."""
    if previous_snapshot is None:
        return []
    is_from_checkout = previous_snapshot.order_id != visit.cart.cart_id
    found = describe_changes(
        previous_snapshot,
        orderable,
        visit.calculate_sums(orderable) if counted and is_from_checkout else None,
        snapshot.promise if counted and is_from_checkout else (),
        snapshot.terms if counted and previous_snapshot.review_fingerprint else None,
    )
    if counted and not found and previous_snapshot != snapshot:
        return [_("Something has changed. Check your order before you place it.")]
    return found


def _orderable_context(visit: CheckoutVisit, step: str, orderable: OrderableCart) -> dict[str, Any]:
    """Return the part of the context with lines, sums, delivery, payment and addresses."""
    form, now = visit.form, current_time()
    sums = visit.calculate_sums(orderable)
    needs_confirmation = (
        step == REVIEW
        and not visit.is_wrong(DETAILS)
        and not visit.is_email_confirmed
        and visit.is_paid_afterwards(to_minor_units(sums.total))
    )
    return {
        "step": step,
        "here": step_url(step),
        "lines": [(line, orderable.backorders.get(line.variant_id)) for line in orderable.lines],
        "sums": sums,
        "delivery_note": describe_delivery_price(
            sums, form.delivery_method, lines_weight(orderable.lines)
        ),
        "applied": orderable.applied,
        "ways": [
            (
                method,
                orderable.applied.delivery_price(orderable.lines, method),
                *method.delivery_estimate(now),
            )
            for method in form.delivery_methods
        ],
        "method": form.delivery_method,
        "arrives": form.delivery_method.delivery_estimate(now),
        "pays": form.payment_method,
        "confirm_within": settings.EMAIL_CONFIRMATION_MINUTES if needs_confirmation else 0,
        "by_card": form.payment_method is None or form.payment_method.code == CARD,
        "addresses": accounts.list_addresses(visit.visitor) if visit.visitor else [],
        "typed": {name: visit.typed_fields.get(name, "") for name in FIELD_NAMES}
        if step == REVIEW
        else {},
        "to": form.cleaned_address() if not form.is_wrong(DETAILS) else None,
        "bill": visit.billing.cleaned_address()
        if visit.billing and visit.billing.is_valid()
        else None,
    }


def _form_context(
    posted: Mapping[str, str], visit: CheckoutVisit, step: str, *, errors: bool
) -> dict[str, Any]:
    """Return the part of the context with a step's forms, without errors about fields that were not submitted yet."""
    form, billing = visit.form, visit.billing
    if errors:
        form.drop_errors_of_other_steps(step)
    elif step != REVIEW:
        form = CheckoutForm(initial=visit.typed_fields)
    if billing is None or not errors:
        # The field shows a country from the start: the form is redrawn only when another country is chosen.
        typed = {
            name: visit.typed_fields.get(f"billing-{name}", "") for name in BillingForm.base_fields
        }
        billing = BillingForm(
            initial=typed | {"country": typed["country"] or form.shipping_country}
        )
    return {
        "form": form,
        "billing": billing,
        "has_errors": errors,
        # The address fields are redrawn only for another country, because the visitor may be typing in them.
        "redrawn": posted.get("address-fields-for") != form["country"].value(),
        "billing_redrawn": posted.get("billing-fields-for") != (billing["country"].value() or ""),
    }


def placing_page(request: HttpRequest) -> HttpResponse:
    """Show the page that says that the order is being placed.

    The page submits the order again until the order is placed, or its claim has expired. Without scripts the browser returns
    to the review once the claim has expired.
    """
    context = {
        "sent": [(name, value) for name, values in request.POST.lists() for value in values],
        "path": step_url(REVIEW),
        "seconds": ASK_AGAIN_AFTER,
        "over": operations.CLAIM_SECONDS,
    }
    response = render_page(request, "checkout/placing.html", context, status=409)
    response["Retry-After"] = str(ASK_AGAIN_AFTER)
    return response


def redirect_to_existing_order(request: HttpRequest, owner_id: UUID, order: Order) -> HttpResponse:
    """Redirect to the cart's order, placed in another tab, before the Back button was used, or by another person of the cart."""
    if order.owner_id != owner_id:
        return _ordered_by_another_page(request, order)
    messages.info(
        request,
        _(
            "You have already placed this order. Confirm it with the link that we emailed, or cancel it to order again."
        )
        if order.needs_email_confirmation
        else _("You’ve already placed this order. Pay for it, or cancel it to order again."),
    )
    response = redirect("orders:detail", order.number)
    remember_guest_order(request, response, order)
    return response


def checkout_conflict_page(request: HttpRequest, owner_id: UUID, order: Order) -> HttpResponse:
    """Show the page that says that the checkout was already ordered, with a content other than the submitted one."""
    if order.owner_id != owner_id:
        return _ordered_by_another_page(request, order)
    response = render_page(request, "checkout/used.html", {"order": order}, status=409)
    remember_guest_order(request, response, order)
    return response


def _ordered_by_another_page(request: HttpRequest, order: Order) -> HttpResponse:
    """Show the page that says that another person has ordered the shared cart, without details of the order."""
    until = order.pay_until if order.is_awaiting_payment else None
    return render_page(request, "checkout/used.html", {"until": until}, status=409)
