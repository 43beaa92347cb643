"""Being told when something is back in stock: a member by one press, a guest by a mailed link."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.cache import never_cache

from catalogue.entities import Product, Variant
from catalogue.errors import NoLongerSold
from catalogue.queries import find_product_and_variant, get_current_product, get_sellable_variant
from inventory.queries import get_stock
from mail.addresses import email_key
from notifications import operations
from notifications.forms import WaitForm
from notifications.queries import Wish, ended_by, wish_in
from pricing.quotes import line_label
from web.errors import TooManyAttempts
from web.limits import hit_rate_limit
from web.methods import get_or_post, owner_only
from web.rendering import render_or_redirect, render_page, render_too_many_attempts


@get_or_post
@never_cache
@owner_only
def wait(request: HttpRequest) -> HttpResponse:
    """Ask to be told when a variant is back. A member's address is known; a guest's is confirmed by a mail."""
    form = WaitForm(
        request.POST if request.method == "POST" else None,
        initial={"variant": request.GET.get("variant")},
    )
    try:
        goods = find_product_and_variant(form["variant"].value())
    except NoLongerSold as gone:
        return render_page(
            request, "notifications/wait.html", {"gone": str(gone)}, part="answer", status=422
        )
    context: dict[str, Any] = {"form": form, "product": goods[0], "variant": goods[1]}
    if request.method != "POST":
        return render_page(request, "notifications/wait.html", context)
    if _left(*goods):
        words = f"{_label(*goods)} is in stock."
    elif request.user.is_authenticated:
        email = request.user.get_username()
        operations.waiter_added(_wish(goods, email), datetime.now(UTC))
        words = f"We will write to {email} as soon as {_label(*goods)} is back."
    elif form.is_valid():
        email = form.cleaned_data["email"]
        try:
            hit_rate_limit(request, "waiting", email_key(email))
        except TooManyAttempts as error:
            return render_too_many_attempts(request, error, "notifications/wait.html", context)
        operations.waiting_asked(_wish(goods, email), *goods, datetime.now(UTC))
        words = f"A mail is on its way to {email}. Follow the link in it, and we will tell you."
    else:
        return render_page(request, "notifications/wait.html", context, part="answer", status=422)
    messages.success(request, words)
    return render_or_redirect(
        request, _page_of(*goods), "notifications/wait.html", {"words": words}, part="answer"
    )


@get_or_post
@never_cache
@owner_only
def waiting(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm by the mailed link, and a press, that an address wants to be told."""
    wish = wish_in(token)
    found = get_current_product(wish.product_id) if wish else None
    variant = get_sellable_variant(found, wish.variant_id) if wish else None
    if wish is None or found is None or variant is None:
        return render_page(request, "notifications/wait_over.html", {}, status=410)
    if request.method != "POST":
        return render_page(
            request,
            "notifications/waiting.html",
            {"wish": wish, "product": found, "variant": variant, "token": token},
        )
    operations.waiter_added(wish, datetime.now(UTC))
    messages.success(
        request, f"We will write to {wish.email} as soon as {_label(found, variant)} is back."
    )
    return redirect(_page_of(found, variant))


@get_or_post
@never_cache
@owner_only
def wait_end(request: HttpRequest, token: str) -> HttpResponse:
    """End, by the link in a mail and a press, all that an address waits for."""
    email = ended_by(token)
    if email is None:
        return render_page(request, "notifications/wait_over.html", {}, status=410)
    if request.method != "POST":
        return render_page(request, "notifications/wait_end.html", {"email": email, "token": token})
    operations.waiting_ended(email)
    messages.success(request, f"{email} gets no more mails about what is back in stock.")
    return redirect("home")


def _wish(goods: tuple[Product, Variant], email: str) -> Wish:
    return Wish(goods[0].product_id, goods[1].variant_id, email)


def _left(found: Product, variant: Variant) -> int:
    stock = get_stock(found.product_id).get(variant.variant_id)
    return stock.available if stock else 0


def _label(found: Product, variant: Variant) -> str:
    return line_label(found.name, variant.options)


def _page_of(found: Product, variant: Variant) -> str:
    return f"{reverse('product', args=[found.slug])}?{urlencode({'variant': variant.sku})}"
