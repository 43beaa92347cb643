"""The page of a product, also of one that is no longer sold."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import localdate
from django.views.decorators.http import require_safe

from analytics.events import NotedEvent, note_event
from cart.forms import build_add_form
from cart.shipping_country import get_shipping_country
from cart.with_product import prefetch_units_in_carts, render_carts_with_product
from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import CategoryNode, Product
from catalogue.previews import is_preview_token
from catalogue.share_images import find_share_image
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from pricing.tax import get_tax_rates
from promotions.queries import list_running_promotions, prefetch_automatic_promotions
from questions.queries import newest_from_rows, prefetch_newest_questions
from reviews.entities import Rating
from reviews.queries import (
    NEWEST_SHOWN,
    listed_from_rows,
    prefetch_listed,
    prefetch_rating,
    rating_from_row,
)
from shop_settings.queries import get_settings_revision, prefetch_settings
from storefront import choices, recently_viewed, structured_data
from storefront.card_lists import list_url
from storefront.delivery_tables import usual_delivery_rows
from storefront.whole_pages import is_drawn_for_all, note_product, whole_page
from web.decorators import public
from web.rendering import render_page


@require_safe
@whole_page("variant", "country", "picture", "preview")
@public
def product(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a product in the variant that the address names."""
    queries.prefetch_categories()
    prefetch_automatic_promotions()
    prefetch_settings()
    product_id = queries.find_product_id_by_slug(slug)
    if product_id is None:
        raise Http404
    reading_product = queries.prefetch_product(product_id)
    reading_stock = prefetch_stock(product_id)
    reading_related = queries.prefetch_related(product_id)
    reading_rating = prefetch_rating(product_id)
    reading_reviews = prefetch_listed(product_id, NEWEST_SHOWN)
    reading_questions = prefetch_newest_questions(product_id)
    units_in_carts = prefetch_units_in_carts(request)
    found, now = queries.product_from_rows(reading_product.rows()), current_time()
    if found is None:
        raise Http404
    preview = _preview_token(request, found, now)
    if found.is_to_come(now) and not preview:
        raise Http404
    if found.slug != slug:
        address = list_url(
            reverse("product", args=(found.slug,)),
            variant=request.GET.get("variant", ""),
            preview=preview,
        )
        return redirect(address, permanent=not preview)
    trail = _trail(found)
    if not (found.is_on_sale(now) or preview):
        return _gone_page(request, found, trail, now)
    stock = stock_from_rows(reading_stock.rows())
    wanted_sku = request.GET.get("variant", "")
    chosen, is_known = choices.choose_variant(found, stock, wanted_sku)
    country = get_shipping_country(request)
    page = _ProductPage(
        product=found,
        stock=stock,
        rating=rating_from_row(reading_rating.one()),
        chosen=chosen,
        picture=choices.choose_picture(found, chosen.variant, request.GET.get("picture", "")),
        trail=trail,
        country=country,
        preview=preview,
        now=now,
    )
    context = page.make_context() | {
        "unknown_variant": bool(wanted_sku) and not is_known,
        "related": tuple(queries.card_from_row(row) for row in reading_related.rows()),
        "newest_reviews": listed_from_rows(reading_reviews.rows()),
        "newest_questions": newest_from_rows(reading_questions.rows()),
        "viewed_any": is_drawn_for_all(request)
        or any(each != product_id for each in recently_viewed.list_viewed_product_ids(request)),
        "in_carts": render_carts_with_product(units_in_carts, product_id),
    }
    response = render_page(request, "storefront/product.html", context, part="chosen")
    note_product(response, product_id, counts_as_viewed=not preview)
    if not preview:
        note_event(response, NotedEvent("product", product_id, found.category_id))
    return response


def _gone_page(
    request: HttpRequest, found: Product, trail: list[CategoryNode], now: datetime
) -> HttpResponse:
    successor = queries.find_successor(found, now)
    context = {
        "product": found,
        "ancestors": trail,
        "category": trail[-1] if trail else None,
        "successor": queries.product_card(successor) if successor else None,
    }
    return render_page(request, "errors/410.html", context, status=HTTPStatus.GONE)


@dataclass(frozen=True)
class _ProductPage:
    """The data of a product's page. `picture` is the large one."""

    product: Product
    stock: Mapping[UUID, Stock]
    rating: Rating
    chosen: choices.ChosenVariant
    picture: str
    trail: list[CategoryNode]
    country: str
    preview: str
    now: datetime

    def make_context(self) -> dict[str, Any]:
        """Return the page's context. Lazy values are computed only if their fragment is drawn."""
        product, variant = self.product, self.chosen.variant
        look = product.picture_of(variant)
        return {
            "product": product,
            "stock": tuple(self.stock.items()),
            "trail": tuple((node.name, node.slug) for node in self.trail),
            "ancestors": self.trail,
            "nav_current": self.trail[0].slug if self.trail else "",
            "preview": self.preview,
            "rating": self.rating,
            "chosen": self.chosen,
            "look": look,
            "look_alt": choices.describe_look(product, variant, look),
            "shown": self.picture,
            "shown_alt": choices.describe_look(product, variant, self.picture),
            "country": self.country,
            "tax_added": get_tax_rates(self.country).is_added,
            "today": localdate(self.now),
            "settings_revision": get_settings_revision(),
            "promotions": list_running_promotions(self.now, product.category_id),
            "share_image": SimpleLazyObject(lambda: find_share_image(look)),
            "page_description": SimpleLazyObject(
                lambda: structured_data.summarize_product(product)
            ),
            "choices": SimpleLazyObject(
                lambda: choices.list_option_choices(product, variant, self.stock)
            ),
            "pictures": SimpleLazyObject(self._list_picture_choices),
            "slides": SimpleLazyObject(lambda: choices.list_slides(self._list_picture_choices())),
            "add_form": SimpleLazyObject(
                lambda: build_add_form(product.product_id, self.chosen.sku)
            ),
            "delivery_rows": SimpleLazyObject(
                lambda: usual_delivery_rows(self.country, self.now, variant.weight_grams)
            ),
            "json_ld": SimpleLazyObject(self._make_json_ld),
        }

    def _list_picture_choices(self) -> list[choices.PictureChoice]:
        return choices.list_picture_choices(
            self.product, self.chosen.variant, self.picture, self.preview
        )

    def _make_json_ld(self) -> str:
        url = reverse("product", args=(self.product.slug,))
        return structured_data.json_ld_script(
            structured_data.product_data(self.product, self.stock, self.rating),
            structured_data.breadcrumb_data(self.trail, self.product.name, url),
        )


def _preview_token(request: HttpRequest, found: Product, now: datetime) -> str:
    """Return the token of a preview link if it is this product's and the product is not on sale, else ""."""
    token = request.GET.get("preview", "")
    is_open = (
        not found.is_on_sale(now)
        and any(variant.sold for variant in found.variants)
        and is_preview_token(token, found.product_id)
    )
    return token if is_open else ""


def _trail(found: Product) -> list[CategoryNode]:
    node = queries.get_category_tree().by_id.get(found.category_id)
    return node.path if node else []
