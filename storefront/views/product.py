"""The page of a product, also of a product that is no longer sold."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.timezone import localdate
from django.views.decorators.http import require_safe

from analytics.events import NotedEvent, note_event
from cart.shipping_country import get_shipping_country
from cart.with_product import prefetch_units_in_carts, render_carts_with_product
from cassandra_db import current_time
from catalogue import queries
from catalogue.entities import CategoryNode, Product
from catalogue.previews import is_preview_token
from catalogue.product_rows import keep_product_from_rows
from catalogue.templatetags.cards import CardInList, make_card_list
from inventory.entities import Stock
from inventory.queries import prefetch_stock, stock_from_rows
from price_alerts.watch_button import prefetch_watch_button, render_watch_button
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
from storefront import choices, recently_viewed
from storefront.added_sections import prefetch_sections
from storefront.card_lists import list_url
from storefront.fragments import ProductBody, ProductFeedback, ProductHead
from storefront.structured_data import summarize_product
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
    watching = prefetch_watch_button(request, product_id)
    sections = prefetch_sections(product_id, slug)
    found = keep_product_from_rows(reading_product.rows(), now := current_time())
    preview = _preview_token(request, found, now) if found else ""
    if found is None or (found.is_to_come(now) and not preview):
        raise Http404
    if found.slug != slug:
        return _redirect_to(found, request.GET.get("variant", ""), preview)
    trail = _trail(found)
    if not (found.is_on_sale(now) or preview):
        return _gone_page(request, found, trail, now)
    stock = stock_from_rows(reading_stock.rows())
    wanted_sku = request.GET.get("variant", "")
    chosen, is_known = choices.choose_variant(found, stock, wanted_sku)
    picture = choices.choose_picture(found, chosen.variant, request.GET.get("picture", ""))
    rating = rating_from_row(reading_rating.one())
    page = _ProductPage(found, stock, rating, chosen, picture, trail, preview, now)
    context = {
        "product": found,
        "preview": preview,
        "product_head": page.make_head(),
        "product_body": page.make_body(
            get_shipping_country(request),
            unknown_variant=bool(wanted_sku) and not is_known,
            is_signed_in=request.user.is_authenticated,
        ),
        "product_feedback": ProductFeedback(
            found.slug,
            rating,
            listed_from_rows(reading_reviews.rows()),
            newest_from_rows(reading_questions.rows()),
        ),
        "related": make_card_list(queries.related_cards(reading_related.one())),
        "page_description": SimpleLazyObject(lambda: summarize_product(found)),
        "ancestors": trail,
        "nav_current": trail[0].slug if trail else "",
        "viewed_any": _has_viewed_others(request, product_id),
        "in_carts": render_carts_with_product(units_in_carts, product_id),
        "price_watch": render_watch_button(request, watching, found),
        "added_sections": [] if preview else sections,
    }
    response = render_page(request, "storefront/product.html", context, part="chosen")
    note_product(response, product_id, counts_as_viewed=not preview)
    event = NotedEvent("product", product_id, found.category_id)
    return response if preview else note_event(response, event)


def _has_viewed_others(request: HttpRequest, product_id: UUID) -> bool:
    viewed = recently_viewed.list_viewed_product_ids(request)
    return is_drawn_for_all(request) or any(each != product_id for each in viewed)


def _redirect_to(found: Product, sku: str, preview: str) -> HttpResponse:
    address = list_url(reverse("product", args=(found.slug,)), variant=sku, preview=preview)
    return redirect(address, permanent=not preview)


def _gone_page(
    request: HttpRequest, found: Product, trail: list[CategoryNode], now: datetime
) -> HttpResponse:
    successor = queries.find_successor(found, now)
    card = queries.product_card(successor) if successor else None
    context = {
        "product": found,
        "ancestors": trail,
        "category": trail[-1] if trail else None,
        "successor": CardInList(card, card.is_new, is_eager=True) if card else None,
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
    preview: str
    now: datetime

    def make_head(self) -> ProductHead:
        """Return the page's data for search engines and other sites."""
        look = self.product.picture_of(self.chosen.variant)
        return ProductHead(
            *self._settings_of_day(),
            product=self.product,
            picture=look,
            alt=choices.describe_look(self.product, self.chosen.variant, look),
            stock=tuple(self.stock.items()),
            rating=self.rating,
            trail=tuple((node.name, node.slug) for node in self.trail),
        )

    def make_body(self, country: str, *, unknown_variant: bool, is_signed_in: bool) -> ProductBody:
        """Return the part of the page that shows the product for one country."""
        return ProductBody(
            *self._settings_of_day(),
            product=self.product,
            stock=tuple(self.stock.items()),
            rating=self.rating,
            chosen=self.chosen,
            picture=self.picture,
            preview=self.preview,
            unknown_variant=unknown_variant,
            promotions=list_running_promotions(self.now, self.product.category_id),
            country=country,
            tax_added=get_tax_rates(country).is_added,
            is_signed_in=is_signed_in,
        )

    def _settings_of_day(self) -> tuple[UUID | None, date]:
        return get_settings_revision(), localdate(self.now)


def _preview_token(request: HttpRequest, found: Product, now: datetime) -> str:
    """Return the token of a preview link if it belongs to this product and the product is not on sale, else ""."""
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
