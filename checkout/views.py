"""From the cart to an order that waits for its payment, in three steps: the details, delivery and payment, the review.

Each step is a form that is submitted to its own URL and leads to the next step; only the last step places the order. The
shop links to the last step, which redirects to the first incomplete one: a visit continues where it was. The typed fields
are stored in the browser (checkout.form_cookie). The last step sends all fields, so the placed order is the reviewed one.
"""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from analytics.events import NotedEvent, note_event
from cart import owner
from cart.middleware import without_badge_prefetch
from cart.shipping_country import get_shipping_country
from cassandra_db import current_time
from checkout.access import orderable_cart_required, prefetch_active_cart
from checkout.form_cookie import (
    FIELD_NAMES,
    get_typed_fields,
    merge_typed_fields,
    save_typed_fields,
)
from checkout.forms import BillingForm, CheckoutForm, checkout_fingerprint
from checkout.limits import order_limit
from checkout.orderable_cart import OrderableCart
from checkout.pages import checkout_conflict_page, step_context, step_page, step_template
from checkout.placement import is_still_offered, place_reviewed_order
from checkout.prefill import get_prefill, get_saved_address_fields
from checkout.refusals import REFUSALS, refusal_page
from checkout.snapshot import CheckoutSnapshot, cart_snapshot, snapshot_from_token
from checkout.steps import DELIVERY, DETAILS, REVIEW, legacy_step, next_step, parse_step, step_url
from checkout.visit import CheckoutVisit
from orders import operations, queries
from orders.lifecycle.entities import Order
from orders.payment_redirect import redirect_to_payment
from pricing.templatetags.money import format_money as in_words
from web.decorators import get_or_post, owner_only
from web.rendering import render_or_redirect

# The buttons that do not order: one goes back to a step, and one updates the sums for another choice.
OTHER_ACTIONS = ("to", "update")


@get_or_post
@owner_only
@without_badge_prefetch
def details(request: HttpRequest) -> HttpResponse:
    """Show the step that asks for contact and delivery address.

    Links and forms of the old single-page checkout redirect to their step.
    """
    if (step := legacy_step(request.GET, request.POST)) != DETAILS:
        return HttpResponseRedirect(step_url(step), preserve_request=request.method == "POST")
    return (
        _submit_step(request, DETAILS) if request.method == "POST" else _show_step(request, DETAILS)
    )


@get_or_post
@owner_only
@without_badge_prefetch
def delivery(request: HttpRequest) -> HttpResponse:
    """Show the step that asks for the delivery and payment methods, and for the billing address."""
    return (
        _submit_step(request, DELIVERY)
        if request.method == "POST"
        else _show_later_step(request, DELIVERY)
    )


@get_or_post
@owner_only
@without_badge_prefetch
def review(request: HttpRequest) -> HttpResponse:
    """Show the step with the whole order. Its button places the order once, even if it is clicked repeatedly."""
    if request.method != "POST":
        return _show_later_step(request, REVIEW)
    if any(each in request.POST for each in OTHER_ACTIONS):
        return _submit_step(request, REVIEW)
    owner_id, now = owner.get_checked_owner_id(request), current_time()
    snapshot = snapshot_from_token(request.POST.get("checkout", ""), owner_id)
    reading = queries.prefetch_order(snapshot.order_id) if snapshot else None
    if owner_id:
        prefetch_active_cart(request, owner_id)  # not for an existing order
    placed = queries.order_from_rows(reading.rows()) if reading else None
    if snapshot and placed and not placed.is_over(now):
        return _resubmit(request, snapshot, placed)
    return _place_order(
        request, snapshot, placed if placed and placed.owner_id == owner_id else None
    )


def _show_later_step(request: HttpRequest, step: str) -> HttpResponse:
    """Show a step. Redirect guests without typed fields to the first step, which checks the cart."""
    owner_id = owner.get_checked_owner_id(request)
    if owner_id and not request.user.is_authenticated and not get_typed_fields(request, owner_id):
        return redirect(step_url(DETAILS))
    return _show_step(request, step)


@orderable_cart_required
def _show_step(request: HttpRequest, visit: CheckoutVisit, step: str) -> HttpResponse:
    """Show a step, or redirect to the first step before it that is incomplete."""
    typed_fields = get_typed_fields(request, visit.owner_id)
    shown_fields = get_prefill(visit.visitor, get_shipping_country(request)) | typed_fields
    if step == DETAILS:
        key = request.GET.get("address", "")
        shown_fields |= get_saved_address_fields(visit.visitor, key, typed_fields)
    visit = visit.with_typed_fields(shown_fields)
    orderable = visit.get_orderable_cart()
    if orderable.price_rises:
        return _redirect_to_price_consent(request)
    if visit.is_too_early(step):
        return redirect(step_url(visit.first_incomplete_step))
    response = step_page(
        request, visit, step, orderable, previous_snapshot=cart_snapshot(visit.cart, visit.owner_id)
    )
    return note_event(response, NotedEvent("checkout") if step == DETAILS else None)


@orderable_cart_required
def _submit_step(request: HttpRequest, visit: CheckoutVisit, step: str) -> HttpResponse:
    """Store the typed fields. Then show the next step, the step that the shopper wants to change, or the same step with errors."""
    if visit.checkout.superseded_checkout_id:
        # Units that the order has reserved for this cart count as available.
        operations.abandon_checkout(visit.checkout.superseded_checkout_id)
    before = get_prefill(visit.visitor, get_shipping_country(request)) | get_typed_fields(
        request, visit.owner_id
    )
    visit = visit.with_typed_fields(merge_typed_fields(request.POST, before, step))
    snapshot, orderable = (
        snapshot_from_token(request.POST.get("checkout", ""), visit.owner_id),
        visit.get_orderable_cart(),
    )
    if orderable.has_unseen_price_rises(snapshot):
        return _redirect_to_price_consent(request)
    if "update" in request.POST:
        response = _update_summary(request, visit, step, snapshot, orderable)
    elif "to" in request.POST:
        response = redirect(step_url(parse_step(request.POST["to"])))
    elif visit.is_wrong(step):
        return step_page(
            request, visit, step, orderable, previous_snapshot=snapshot, errors=True, status=422
        )
    else:
        response = redirect(step_url(next_step(step)))
    if not save_typed_fields(response, visit.owner_id, visit.typed_fields):
        visit.form.add_error(
            "notes" if step == DELIVERY else "name",
            _("What you’ve typed is too long altogether. Shorten the address or the notes."),
        )
        return step_page(
            request,
            visit,
            DELIVERY if step == DELIVERY else DETAILS,
            orderable,
            errors=True,
            status=422,
        )
    return response


def _update_summary(
    request: HttpRequest,
    visit: CheckoutVisit,
    step: str,
    previous_snapshot: CheckoutSnapshot | None,
    orderable: OrderableCart,
) -> HttpResponse:
    """Show the page's sums again, for the chosen options."""
    if not orderable.lines or step == REVIEW:  # on the review nothing is chosen
        return redirect(step_url(step))

    def context() -> dict[str, Any]:
        snapshot = visit.take_snapshot(orderable, step)
        if previous_snapshot is None or snapshot.total != previous_snapshot.total:
            messages.info(
                request,
                _("The total is now %(total)s.")
                % {"total": in_words(visit.calculate_sums(orderable).total)},
            )
        return step_context(request, visit, step, orderable, snapshot)

    return render_or_redirect(request, step_url(step), step_template(step), context, part="changed")


def _redirect_to_price_consent(request: HttpRequest) -> HttpResponse:
    """Redirect to the cart, where the shopper accepts risen prices before typing personal data."""
    messages.warning(request, _("A price has gone up. Check it here before you go to checkout."))
    return redirect("cart:show")


@orderable_cart_required
def _place_order(
    request: HttpRequest,
    visit: CheckoutVisit,
    snapshot: CheckoutSnapshot | None,
    ended: Order | None,
) -> HttpResponse:
    """Place the reviewed order if nothing has changed since the review; otherwise show the changes."""
    visit = visit.with_typed_fields({name: request.POST.get(name, "") for name in FIELD_NAMES})
    orderable = visit.get_orderable_cart()
    # Without a snapshot, risen prices are compared with the cart's prices.
    previous_snapshot = snapshot or (
        cart_snapshot(visit.cart, visit.owner_id) if orderable.price_rises else None
    )
    if visit.first_incomplete_step != REVIEW:
        return step_page(
            request,
            visit,
            visit.first_incomplete_step,
            orderable,
            previous_snapshot=previous_snapshot,
            errors=True,
            status=422,
        )
    if snapshot is None or not is_still_offered(visit, snapshot, orderable):
        return step_page(
            request,
            visit,
            REVIEW,
            orderable,
            previous_snapshot=previous_snapshot,
            extra_messages=_why_review_again(ended, previous_snapshot),
            status=409,
        )
    try:
        with order_limit(request, visit, snapshot):
            order = place_reviewed_order(visit, snapshot, orderable, current_time())
    except REFUSALS as refusal:
        return refusal_page(request, visit, snapshot, orderable, refusal)
    return note_event(redirect_to_payment(request, order), NotedEvent("order"))


def _why_review_again(ended: Order | None, previous_snapshot: CheckoutSnapshot | None) -> list[str]:
    """Return sentences that say why the order must be reviewed again. There are none if the page shows the changes since a snapshot."""
    if ended:
        return [
            _("Order %(number)s wasn’t paid. Nothing was charged. You can place it again.")
            % {"number": ended.number}
        ]
    return [] if previous_snapshot else [_("Check your order before you place it.")]


def _resubmit(request: HttpRequest, snapshot: CheckoutSnapshot, placed: Order) -> HttpResponse:
    """Answer a submit of a checkout that is already ordered. The same content leads to the payment; another one is refused."""
    form = CheckoutForm(request.POST, ordered=placed.method)
    billing = BillingForm(request.POST) if form.has_billing_address else None
    complete = form.is_valid() and (billing is None or billing.is_valid())
    same = complete and checkout_fingerprint(form, billing, snapshot.content) == placed.fingerprint
    if same and placed.owner_id == snapshot.owner_id:
        return redirect_to_payment(request, placed)
    return checkout_conflict_page(request, snapshot.owner_id, placed)
