"""A product, its variants, its card in a list, and the tree of categories."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from moneyed import Money

from cassandra_db import Row, current_time
from catalogue.prices import PricePoint
from pricing.quotes import QuotedLine, options_label

NEW_FOR = timedelta(days=30)
STATUSES = ("draft", "active", "archived")


@dataclass(frozen=True, slots=True)
class Variant:
    """A product in one size and one colour, as it is put into a cart. Prices include tax.

    `price` and `compare_at` were in force when the variant was read (catalogue.prices.price_in_force). `price_from` is when the
    price began. `planned` prices begin by themselves; the earliest comes first. `earlier` are the prices that a planned price of the
    same row has replaced; they are in no history yet.
    """

    variant_id: UUID
    sku: str
    options: dict[str, str] = field(hash=False)
    price: Money
    compare_at: Money | None
    picture: str
    weight_grams: int
    sold: bool = True
    position: int = 0
    barcode: str = ""  # a GTIN; "" for none
    price_from: datetime | None = None  # None: not saved yet
    planned: tuple[PricePoint, ...] = ()
    content: Decimal = Decimal(0)  # in the product's unit; 0: unknown
    cost_price: Money | None = None  # what the shop pays for a unit, without tax; only for staff
    mpn: str = ""  # the manufacturer's part number
    earlier: tuple[PricePoint, ...] = field(default=(), compare=False)

    def __hash__(self) -> int:
        # Parts of pages are kept under products, which are compared in full.
        return hash(self.variant_id)

    def has_price_of(self, now: datetime) -> bool:
        """Return whether the variant's price is in force at a moment: it has begun, and no planned price has."""
        has_begun = self.price_from is None or self.price_from <= now
        return has_begun and not (self.planned and self.planned[0].starts_at <= now)

    @property
    def label(self) -> str:
        """The variant's options in words, such as "Oat, 350 ml"; "" for a product without options."""
        return options_label(self.options)


@dataclass(frozen=True, slots=True)
class ProductPicture:
    """A picture of a product or a category: the text that names it (catalogue.pictures, catalogue.photos), and its alt text.

    A product's picture has the alt text "" until staff confirm one.
    """

    picture: str
    alt: str


@dataclass(frozen=True, slots=True)
class Product:
    """A product with all its variants, sorted as on its page.

    `version` is the version that was read; 0 if the product was never saved. The version also rises when a planned price
    begins. Moments are in UTC.
    """

    product_id: UUID
    slug: str
    name: str
    brand: str
    description: str
    details: dict[str, str] = field(hash=False)
    category_id: UUID
    option_names: tuple[str, ...]
    tax_class: str
    variants: tuple[Variant, ...]
    status: str = "active"  # one of STATUSES
    featured: bool = False
    created_at: datetime | None = None  # None: not saved yet
    updated_at: datetime | None = None
    availability: str = "out"
    in_stock_ids: frozenset[UUID] = frozenset()  # the variants that can be bought now
    version: int = 0
    active_from: datetime | None = None
    active_until: datetime | None = None
    category_ids: frozenset[UUID] = frozenset()  # further categories, besides the main one
    tags: frozenset[str] = frozenset()
    maker: str = ""  # name and postal address of the manufacturer (GPSR, Article 19)
    maker_contact: str = ""  # the manufacturer's email or web address
    responsible_person: str = ""  # in the EU, if the manufacturer is outside of it
    safety: str = ""
    unit: str = ""  # of the variants' content (catalogue.unit_prices); "" for no unit price
    length_mm: int = 0  # 0: unknown
    width_mm: int = 0
    height_mm: int = 0
    search_title: str = ""
    search_description: str = ""
    google_category: str = ""  # in Google's taxonomy: a number or a path
    old_addresses: str = ""  # in a former shop, one per line (catalogue.old_addresses)
    related_ids: tuple[UUID, ...] = ()  # the pinned related products, in this order
    pictures: tuple[ProductPicture, ...] = ()  # in this order; variants may show other pictures
    successor_id: UUID | None = None  # offered on its page once the product is gone
    rating: float | None = None  # the average of its reviews, to one decimal
    rating_count: int = 0
    popularity: int | None = None  # a coarse level; None until it is computed for the first time
    bestseller: bool = False

    def __hash__(self) -> int:
        return hash((self.product_id, self.version))

    def is_on_sale(self, now: datetime) -> bool:
        """Return whether shoppers can find and buy the product at a moment. Every page, list, cart and feed uses this rule."""
        return (
            self.status == "active"
            and (self.active_from is None or self.active_from <= now)
            and (self.active_until is None or now < self.active_until)
            and any(variant.sold for variant in self.variants)
        )

    def is_to_come(self, now: datetime) -> bool:
        """Return whether the sale has not begun yet. Until then the product's page answers 404, not "no longer sold"."""
        return self.status == "draft" or (
            self.status == "active" and self.active_from is not None and now < self.active_from
        )

    @property
    def all_category_ids(self) -> tuple[UUID, ...]:
        """The product's categories, the main one first."""
        return (self.category_id, *sorted(self.category_ids - {self.category_id}))

    @property
    def size_cm(self) -> tuple[float, ...]:
        """The known values among length, width and height, in centimetres."""
        return tuple(each / 10 for each in (self.length_mm, self.width_mm, self.height_mm) if each)

    @property
    def moments(self) -> set[datetime]:
        """The moments at which lists have to change because of this product."""
        begin = (point.starts_at for each in self.variants if each.sold for point in each.planned)
        return {each for each in (self.active_from, self.active_until, *begin) if each}

    def get_variant(self, variant_id: UUID) -> Variant | None:
        """Return the variant with this id, even if it is no longer sold."""
        return next((each for each in self.variants if each.variant_id == variant_id), None)

    def picture_of(self, variant: Variant) -> str:
        """Return the picture of a variant: its own, else the product's first picture, else ""."""
        return variant.picture or (self.pictures[0].picture if self.pictures else "")

    def describe_picture(self, picture: str) -> str:
        """Return the alt text of one of the product's pictures, or the suggested one; "" for any other picture."""
        found = [each.alt for each in self.pictures if each.picture == picture]
        return (found[0] or self.suggest_alt(picture)) if found else ""

    def suggest_alt(self, picture: str) -> str:
        """Return an alt text: the product's name, and the option values that all variants with this picture share."""
        shown = [each.options for each in self.variants if each.sold and each.picture == picture]
        shared = (
            value
            for name, value in (shown[0] if shown else {}).items()
            if all(each.get(name) == value for each in shown)
        )
        return ", ".join((self.name, *shared))

    def with_pictures(self, pictures: Sequence[ProductPicture]) -> "Product":
        """Return the product with these pictures. A variant whose picture was removed has none afterwards."""
        gone = {each.picture for each in self.pictures} - {each.picture for each in pictures}
        variants = (
            replace(each, picture="") if each.picture in gone else each for each in self.variants
        )
        return replace(self, pictures=tuple(pictures), variants=tuple(variants))

    def variant_columns(self, variant: Variant) -> dict[str, Any]:
        """Return the values of a variant that a line of a cart or order stores, as pricing.quotes.VariantSnapshot names them."""
        return {
            "product_id": self.product_id,
            "variant_id": variant.variant_id,
            "sku": variant.sku,
            "name": self.name,
            "slug": self.slug,
            "options": dict(variant.options),
            "picture": self.picture_of(variant),
        }

    def quote_line(self, variant: Variant, quantity: int) -> QuotedLine:
        """Return a line for a quote: `quantity` units of a variant at its price."""
        return QuotedLine(
            **self.variant_columns(variant),
            unit_price=variant.price,
            quantity=quantity,
            tax_class=self.tax_class,
            weight_grams=variant.weight_grams,
            category_id=self.category_id,
        )


@dataclass(frozen=True, slots=True)
class PictureUpload:
    """An uploaded file. `state` is waiting, ready (`picture` names the picture) or refused (`reason` says why)."""

    owner_id: UUID
    upload_id: UUID
    file_name: str
    incoming: str  # the raw file's name in the storage
    state: str
    tries: int = 0
    picture: str = ""
    reason: str = ""
    salt: str = ""  # of a shopper's upload: no other picture shares its files (to delete them)

    @property
    def key(self) -> dict[str, UUID]:
        return {"product_id": self.owner_id, "upload_id": self.upload_id}


@dataclass(frozen=True, slots=True)
class ProductCard:
    """A product as a list shows it. Prices include tax; `compare_at` is the crossed-out price."""

    product_id: UUID
    name: str
    slug: str
    brand: str
    picture: str
    swatches: tuple[str, ...]
    variant_count: int
    price: Money
    price_varies: bool
    compare_at: Money | None
    rating: float | None
    rating_count: int
    popularity: int
    bestseller: bool
    availability: str
    created_at: datetime
    sku: str = ""  # of the variant that the card shows; "" for the whole product
    unit_price: Money | None = None  # of the amount that catalogue.unit_prices has for `unit`
    unit: str = ""

    @property
    def is_new(self) -> bool:
        return self.created_at > current_time() - NEW_FOR

    @property
    def variant_query(self) -> str:
        """What follows the address of the product's page, so that it shows the card's variant."""
        return f"?{urlencode({'variant': self.sku})}" if self.sku else ""

    @property
    def discount(self) -> float:
        """The discount as a share of the crossed-out price, from 0 to 1; 0 if no price is crossed out."""
        return 1 - float(self.price.amount / self.compare_at.amount) if self.compare_at else 0.0


@dataclass(frozen=True, slots=True)
class MenuEntry:
    """A category in the navigation, with its subcategories."""

    name: str
    slug: str
    picture: str
    picture_alt: str
    children: tuple["MenuEntry", ...]


class CategoryMenu(tuple[MenuEntry, ...]):
    """The entries of the navigation. They are in the cache's key of each page's header, so their hash is computed once."""

    def __hash__(self) -> int:
        if "_hash" not in self.__dict__:
            self.__dict__["_hash"] = super().__hash__()
        found: int = self.__dict__["_hash"]
        return found


@dataclass(frozen=True, slots=True)
class ListOrder:
    """How a category's products are sorted: first the products that staff pinned, then the others by a rule (a key of queries.SORTS)."""

    rule: str = "newest"
    pinned_ids: tuple[UUID, ...] = ()


@dataclass(eq=False, slots=True)
class CategoryNode:
    """A category in its tree."""

    category_id: UUID
    slug: str
    name: str
    description: str
    picture: str
    picture_alt: str
    position: int
    parent: "CategoryNode | None" = field(default=None, repr=False)
    children: list["CategoryNode"] = field(default_factory=list, repr=False)
    former_slugs: tuple[str, ...] = ()
    # When the category was renamed or moved; None once its products have followed. They have followed up to `followed_to`.
    changed_at: datetime | None = None
    followed_to: str = ""
    order: ListOrder = ListOrder()
    # Whether the category's list that begins with the pinned products is complete.
    has_featured_list: bool = False
    # Whether only the pinned products have changed since `changed_at`.
    is_repinned: bool = False

    @property
    def ancestors(self) -> list["CategoryNode"]:
        """The categories above this one, from the root down."""
        return [*self.parent.ancestors, self.parent] if self.parent else []

    @property
    def path(self) -> list["CategoryNode"]:
        """The categories above this one, from the root down, and then this one."""
        return [*self.ancestors, self]

    @property
    def subtree(self) -> list["CategoryNode"]:
        """This category and all categories below it, each after its parent."""
        return [self, *(each for child in self.children for each in child.subtree)]

    @property
    def depth(self) -> int:
        return len(self.ancestors) + 1

    @property
    def menu_entry(self) -> MenuEntry:
        children = tuple(each.menu_entry for each in self.children)
        return MenuEntry(self.name, self.slug, self.picture, self.picture_alt, children)


@dataclass(frozen=True, slots=True)
class CardPage:
    """A part of a list of cards. `next_token` is for reading the next part; it is "" at the end."""

    cards: tuple[ProductCard, ...]
    next_token: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggested product: a word of its name begins with the typed prefix."""

    product_id: UUID
    name: str
    slug: str
    picture: str
    price: Money
    price_varies: bool
    category_name: str


class CategoryTree:
    """All categories by id and by slug, the root categories, and the targets to which former addresses redirect."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self.version: int | None = rows[0].version if rows else None
        self.row_count = len(rows)
        there = [row for row in rows if not row.removed]
        self.removed_ids = {row.category_id for row in rows if row.removed}
        self.by_id = {
            row.category_id: CategoryNode(
                row.category_id,
                row.slug,
                row.name,
                row.description or "",
                row.picture or "",
                row.picture_alt or "",
                row.position or 0,
                former_slugs=tuple(row.former_slugs or ()),
                changed_at=row.changed_at,
                followed_to=row.followed_to or "",
                order=ListOrder(row.list_rule or "newest", tuple(row.pinned_ids or ())),
                has_featured_list=bool(row.has_featured_list),
                is_repinned=bool(row.is_repinned),
            )
            for row in there
        }
        for row in there:
            node = self.by_id[row.category_id]
            if node.slug and (parent := self.by_id.get(row.parent_id)):
                node.parent = parent
                parent.children.append(node)
        for node in self.by_id.values():
            node.children.sort(key=lambda child: (child.position, child.name))
        self.by_slug = {node.slug: node for node in self.by_id.values()}
        roots = (node for node in self.by_id.values() if node.parent is None)
        self.roots = sorted(roots, key=lambda root: (root.position, root.name))
        self.menu = CategoryMenu(root.menu_entry for root in self.roots)
        self.by_former_slug = self._find_former(rows)

    def _find_former(self, rows: Sequence[Row]) -> dict[str, CategoryNode | None]:
        """Return the targets of former addresses: the category that had the slug, or one above a removed category. None: it is gone."""
        parents = {row.category_id: row.parent_id for row in rows}
        found: dict[str, CategoryNode | None] = {}
        # Rows of present categories come last, so they override the rows of removed ones.
        for row in sorted(rows, key=lambda row: not row.removed):
            category_id = row.category_id
            while category_id and category_id not in self.by_id:
                category_id = parents.get(category_id)
            for slug in (*(row.former_slugs or ()), row.slug):
                found[slug] = self.by_id.get(category_id)
        return {slug: node for slug, node in found.items() if slug not in self.by_slug}

    @property
    def nodes(self) -> list[CategoryNode]:
        """All categories, sorted as in the tree, each after its parent."""
        return [each for root in self.roots for each in root.subtree]
