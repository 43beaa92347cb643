"""Puts the products of a post into the visitor's cart."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from cart import owner
from cart.errors import CartError
from cart.forms import IdempotencyForm
from cart.operations.bulk_lines import VariantQuantity, add_variants
from cart.operations.carts import get_or_create_active_cart
from cart.queries import get_cart
from cassandra_db import current_time
from catalogue.queries import get_sellable_variant
from inventory.entities import Stock
from inventory.products_with_stock import get_products_with_stock
from posts.entities import Post
from posts.pages import require_public_post
from web.decorators import owner_only, post_only


@post_only("posts:post", "post_id")
@owner_only
def add_all(request: HttpRequest, post_id: UUID) -> HttpResponse:
    """Add one of each product of a post to the active cart, and say which ones were skipped."""
    post, form = require_public_post(post_id), IdempotencyForm(request.POST)
    form.full_clean()
    owner_id, now = owner.get_owner_id(request), current_time()
    buyable, skipped = _sort_products(post)
    if not buyable:
        messages.error(request, _("None of these products can be bought at the moment."))
        return redirect("posts:post", post_id)
    owner_id = owner_id or owner.get_or_create_owner_id(request)
    try:
        cart = get_or_create_active_cart(owner_id, now)
        held = {line.variant_id: line.quantity for line in get_cart(cart.cart_id).lines}
        to_add = [
            (each, left) for each, left in buyable if held.get(each.variant.variant_id, 0) < left
        ]
        skipped += [
            _("%(name)s (you have all that are left)") % {"name": each.product.name}
            for each, left in buyable
            if held.get(each.variant.variant_id, 0) >= left
        ]
        if to_add:
            add_variants(
                owner_id,
                cart.cart_id,
                "",
                [each for each, _left in to_add],
                form.cleaned_data["operation"],
                now,
                guest=owner.is_guest(request),
            )
    except CartError as refused:
        messages.error(request, str(refused))
        return redirect("posts:post", post_id)
    _report(request, len(to_add), skipped, cart.cart_name)
    return redirect("cart:show")


def _sort_products(post: Post) -> tuple[list[tuple[VariantQuantity, int]], list[str]]:
    """Return what can be bought of a post, each with the units that are left; and what was skipped and why, in words."""
    found = get_products_with_stock(each.product_id for each in post.products)
    buyable, skipped = [], []
    for each in post.products:
        today = found[each.product_id]
        if today.product is None:
            continue
        variant = get_sellable_variant(today.product, each.variant_id)
        left = today.stock.get(each.variant_id, Stock()).available
        if variant and left > 0:
            buyable.append((VariantQuantity(today.product, variant, 1), left))
        else:
            reason = _("sold out") if variant else _("no longer sold")
            skipped.append(f"{today.product.name} ({reason})")
    return buyable, skipped


def _report(request: HttpRequest, added: int, skipped: list[str], cart_name: str) -> None:
    if added:
        text = ngettext(
            "%(count)d item is now in “%(cart)s”.", "%(count)d items are now in “%(cart)s”.", added
        )
        messages.success(request, text % {"count": added, "cart": cart_name})
    if skipped:
        text = _("Skipped: %(names)s.") % {"names": ", ".join(skipped)}
        messages.warning(request, text)
