"""The view objects of the storefront's parts of pages that are drawn once for all visitors (web.templatetags.fragments)."""

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString
from moneyed import Money

from cart.forms import AddForm, build_add_form
from catalogue.entities import MenuEntry, Product
from catalogue.front_page import Block
from catalogue.share_images import ShareImage, find_share_image
from catalogue.unit_prices import compute_unit_price
from inventory.entities import Stock
from payments.gateways import PaymentMethod
from promotions.rules import Promotion
from questions.entities import Question
from reviews.entities import ListedReview, Rating
from shop_settings.brand import get_brand
from storefront import choices
from storefront.delivery_tables import DeliveryRow, usual_delivery_rows
from storefront.structured_data import (
    absolute_url,
    breadcrumb_data,
    json_ld_script,
    product_data,
    shop_data,
    summarize_product,
)
from text_pages.drawing import DrawnPage, draw_text
from text_pages.pages import PageHead
from text_pages.queries import get_page_version
from web.days import start_of_day

Trail = tuple[tuple[str, str], ...]  # names and slugs, from the root down


@dataclass(frozen=True)
class _WithSettings:
    """A part that shows settings of the shop; their values depend only on the settings' revision and the day."""

    settings_revision: UUID | None
    today: date


class _Head:
    """The data that other sites show beside a link to a page."""

    kind = "website"
    picture: str

    def share_image(self) -> ShareImage:
        return find_share_image(self.picture)


@dataclass(frozen=True)
class FrontPageHead(_WithSettings, _Head):
    picture = ""

    def share_image(self) -> ShareImage:
        return find_share_image(get_brand().hero)

    def title(self) -> str:
        return get_brand().tagline

    def description(self) -> str:
        return get_brand().tagline

    def canonical(self) -> str:
        return absolute_url(reverse("home"))

    def json_ld(self) -> SafeString:
        return json_ld_script(*shop_data())


@dataclass(frozen=True)
class FrontPage:
    """The blocks of the front page, each with its template and what the template shows beside the block."""

    blocks: tuple[tuple[str, Block, Hashable], ...]

    def has_heading(self) -> bool:
        return any(block.kind == "hero" for _template, block, _shown in self.blocks)


@dataclass(frozen=True)
class CategoryHead(_Head):
    trail: Trail
    title: str
    slug: str
    words: str
    picture: str

    @property
    def alt(self) -> str:
        return self.title

    def description(self) -> str:
        return self.words or get_brand().tagline

    def canonical(self) -> str:
        return absolute_url(reverse("category", args=(self.slug,)))

    def json_ld(self) -> SafeString:
        url = reverse("category", args=(self.slug,))
        return json_ld_script(breadcrumb_data(self.trail, self.title, url))


@dataclass(frozen=True)
class CategoryTop:
    """The part of a category's page above its list."""

    name: str
    words: str
    children: tuple[MenuEntry, ...]


@dataclass(frozen=True)
class ProductHead(_WithSettings, _Head):
    product: Product
    picture: str
    alt: str
    stock: tuple[tuple[UUID, Stock], ...]
    rating: Rating
    trail: Trail
    kind = "product"

    def title(self) -> str:
        return self.product.search_title or self.product.name

    def description(self) -> str:
        return summarize_product(self.product)

    def canonical(self) -> str:
        return absolute_url(self._url())

    def json_ld(self) -> SafeString:
        return json_ld_script(
            product_data(self.product, dict(self.stock), self.rating),
            breadcrumb_data(self.trail, self.product.name, self._url()),
        )

    def _url(self) -> str:
        return reverse("product", args=(self.product.slug,))


@dataclass(frozen=True)
class ProductBody(_WithSettings):
    """A product in the variant and with the picture that were chosen."""

    product: Product
    stock: tuple[tuple[UUID, Stock], ...]
    rating: Rating
    chosen: choices.ChosenVariant
    picture: str
    preview: str
    unknown_variant: bool
    promotions: tuple[Promotion, ...]
    country: str
    tax_added: bool
    is_signed_in: bool

    def alt(self) -> str:
        return choices.describe_look(self.product, self.chosen.variant, self.picture)

    @cached_property
    def has_safety(self) -> bool:
        """Whether the product has any text that the GPSR asks for."""
        it = self.product
        return bool(it.safety or it.maker or it.maker_contact or it.responsible_person)

    @cached_property
    def unit_price(self) -> Money | None:
        return compute_unit_price(self.product, self.chosen.variant)

    @cached_property
    def option_choices(self) -> list[list[choices.Choice]]:
        return choices.list_option_choices(self.product, self.chosen.variant, dict(self.stock))

    @cached_property
    def pictures(self) -> list[choices.PictureChoice]:
        return choices.list_picture_choices(
            self.product, self.chosen.variant, self.picture, self.preview
        )

    @cached_property
    def slides(self) -> list[tuple[choices.PictureChoice, int, int, int]]:
        return choices.list_slides(self.pictures)

    @cached_property
    def add_form(self) -> AddForm:
        return build_add_form(self.product.product_id, self.chosen.sku)

    @cached_property
    def delivery_rows(self) -> list[DeliveryRow]:
        grams = self.chosen.variant.weight_grams
        return usual_delivery_rows(self.country, start_of_day(self.today), grams)


@dataclass(frozen=True)
class ProductFeedback:
    """The reviews of a product, and the questions about it."""

    slug: str
    rating: Rating
    newest_reviews: tuple[ListedReview, ...]
    newest_questions: tuple[Question, ...]


@dataclass(frozen=True)
class ShownText(_WithSettings):
    """A version of a page of text, as it is on the day `today`, and what it shows beside the settings."""

    page_key: str
    head: PageHead
    payment_methods: tuple[PaymentMethod, ...]

    @cached_property
    def drawn(self) -> DrawnPage:
        return draw_text(get_page_version(self.page_key, self.head.number).text, self.today)
