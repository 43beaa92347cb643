"""The pages of back-in-stock subscriptions."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from cassandra_db import current_time
from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import find_product_and_variant, get_product_at_quorum, get_sellable_variant
from inventory.queries import get_stock
from mail.addresses import email_key
from mail.one_click import confirm_one_click, is_one_click
from pricing.quotes import line_label
from stock_alerts import operations
from stock_alerts.forms import SubscriptionForm
from stock_alerts.queries import Subscription, parse_subscription_token, parse_unsubscribe_token
from web.decorators import get_or_post, owner_only
from web.errors import TooManyAttempts
from web.rate_limits import hit_rate_limit
from web.rendering import render_or_redirect, render_page, render_too_many_attempts


@get_or_post
@owner_only
def subscribe(request: HttpRequest) -> HttpResponse:
    """Subscribe a visitor to a sold-out variant: a member at once, a guest by a mailed link."""
    form = SubscriptionForm(
        request.POST if request.method == "POST" else None,
        initial={"variant": request.GET.get("variant")},
    )
    try:
        product_and_variant = find_product_and_variant(form["variant"].value())
    except NoLongerSold as error:
        return render_page(
            request, "stock_alerts/subscribe.html", {"gone": str(error)}, part="answer", status=422
        )
    context: dict[str, Any] = {
        "form": form,
        "product": product_and_variant[0],
        "variant": product_and_variant[1],
    }
    if request.method != "POST":
        return render_page(request, "stock_alerts/subscribe.html", context)
    if _available_units(*product_and_variant):
        message = _("%(name)s is in stock.") % {"name": _label(*product_and_variant)}
    elif request.user.is_authenticated:
        email = request.user.get_username()
        subscription = _subscription(product_and_variant, email)
        operations.subscribe(subscription, current_time(), request.user.pk)
        message = _subscribed_message(*product_and_variant)
    elif form.is_valid():
        email = form.cleaned_data["email"]
        try:
            hit_rate_limit(request, "waiting", email_key(email))
        except TooManyAttempts as error:
            return render_too_many_attempts(request, error, "stock_alerts/subscribe.html", context)
        operations.request_subscription(
            _subscription(product_and_variant, email), *product_and_variant, current_time()
        )
        message = _("We’ve sent you an email. Follow the link in it to confirm your email address.")
    else:
        return render_page(
            request, "stock_alerts/subscribe.html", context, part="answer", status=422
        )
    messages.success(request, message)
    return render_or_redirect(
        request,
        _product_url(*product_and_variant),
        "stock_alerts/subscribe.html",
        {"message": message},
        part="answer",
    )


@get_or_post
@owner_only
def confirm_subscription(request: HttpRequest, token: str) -> HttpResponse:
    """Show the page of the mailed link, and confirm the subscription on submit."""
    subscription = parse_subscription_token(token)
    found = get_product_at_quorum(subscription.product_id) if subscription else None
    variant = get_sellable_variant(found, subscription.variant_id) if subscription else None
    if subscription is None or found is None or variant is None:
        return render_page(request, "stock_alerts/link_over.html", {}, status=410)
    if request.method != "POST":
        return render_page(
            request,
            "stock_alerts/confirm.html",
            {"subscription": subscription, "product": found, "variant": variant, "token": token},
        )
    operations.subscribe(subscription, current_time())
    messages.success(request, _subscribed_message(found, variant))
    return redirect(_product_url(found, variant))


# A mail program has no CSRF token. The link's token protects this view.
@csrf_exempt
@get_or_post
@owner_only
def unsubscribe(request: HttpRequest, token: str) -> HttpResponse:
    """End all subscriptions of an address: from the page behind a mail's link, or by the mail program's button."""
    email = parse_unsubscribe_token(token)
    if email is None:
        return render_page(request, "stock_alerts/link_over.html", {}, status=410)
    if request.method != "POST":
        return render_page(
            request, "stock_alerts/unsubscribe.html", {"email": email, "token": token}
        )
    operations.unsubscribe(email)
    if is_one_click(request):
        return confirm_one_click()
    messages.success(
        request, _("You’ve unsubscribed. You won’t get any more back-in-stock emails.")
    )
    return redirect("home")


def _subscription(product_and_variant: tuple[Product, Variant], email: str) -> Subscription:
    return Subscription(product_and_variant[0].product_id, product_and_variant[1].variant_id, email)


def _available_units(found: Product, variant: Variant) -> int:
    stock = get_stock(found.product_id).get(variant.variant_id)
    return stock.available if stock else 0


def _subscribed_message(found: Product, variant: Variant) -> str:
    return _("We’ll email you as soon as %(name)s is back in stock.") % {
        "name": _label(found, variant)
    }


def _label(found: Product, variant: Variant) -> str:
    return line_label(found.name, variant.options)


def _product_url(found: Product, variant: Variant) -> str:
    return f"{reverse('product', args=[found.slug])}?{urlencode({'variant': variant.sku})}"
