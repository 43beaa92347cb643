"""Reads the demo shop's categories, products and variants from the files in `data/`, and computes their ids."""

import tomllib
import uuid
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product as every_combination
from pathlib import Path
from typing import Any, Literal

# Never change this namespace: every id of the demo shop depends on it, so that a second load finds the rows of the first.
NAMESPACE = uuid.UUID("6f0c3c1e-7a43-4f0b-9c56-2d7f5b8e41aa")

TaxClass = Literal["standard", "reduced"]


def demo_category_id(slug: str) -> uuid.UUID:
    """Return the id that the category with this slug always has."""
    return uuid.uuid5(NAMESPACE, f"category:{slug}")


def demo_product_id(key: str) -> uuid.UUID:
    """Return the id that the product with this key always has."""
    return uuid.uuid5(NAMESPACE, f"product:{key}")


def demo_variant_id(sku: str) -> uuid.UUID:
    """Return the id that the variant with this SKU always has."""
    return uuid.uuid5(NAMESPACE, f"variant:{sku}")


@dataclass(frozen=True, slots=True)
class DemoWarehouse:
    """A warehouse. A variant's `stock` refers to it by its `slug`."""

    slug: str
    name: str
    city: str
    country: str


@dataclass(frozen=True, slots=True)
class DemoCategory:
    """A category. A root category has no parent, and only leaf categories have products."""

    slug: str
    name: str
    parent: str | None
    description: str
    picture: str


@dataclass(frozen=True, slots=True)
class DemoVariant:
    """A variant of a product, which can be put into a cart. Prices are in EUR and include tax."""

    sku: str
    options: dict[str, str]
    price: Decimal
    compare_at: Decimal | None
    picture: str
    weight_grams: int
    stock: dict[str, int]


@dataclass(frozen=True, slots=True)
class DemoProduct:
    """A product. Its id is made from `key`, which never changes; the slug and the name may change."""

    key: str
    name: str
    slug: str
    brand: str
    category: str
    description: str
    details: dict[str, str]
    option_names: tuple[str, ...]
    tax_class: TaxClass
    variants: tuple[DemoVariant, ...]
    featured: bool = False
    deal: bool = False
    created_days_ago: int = 0
    related: tuple[str, ...] = ()
    # The names of files in data/photographs/, each with a description of its picture.
    photographs: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class DemoReview:
    """A customer's review of a product, and the shop's answer ("" if the shop has not answered)."""

    slug: str
    stars: int
    name: str
    title: str
    body: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question about a product, and its answers as (name, text). The name is "" for an answer by the shop."""

    slug: str
    name: str
    body: str
    answers: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class DemoChoice:
    """A value of an option, such as the colour Oat or the size 45 × 45 cm, or the default values of a product.

    `code` becomes a part of the SKU, and `hexes` are the picture's colours. An option's `price`, `was` (both EUR with tax),
    `grams` and `shape` replace the values of the product.
    """

    name: str
    code: str
    hexes: tuple[str, ...] = ()
    price: str | None = None
    was: str | None = None
    grams: int | None = None
    shape: str | None = None


def usual_stock(sku: str, price: Decimal) -> dict[str, int]:
    """Return a variant's units by warehouse, always the same. Cheap variants have more units. Lyon has every third variant."""
    full = 96 if price < 20 else 60 if price < 60 else 30
    noise = zlib.crc32(sku.encode())
    berlin = full // 2 + noise % full
    cork = full // 4 + (noise >> 12) % (full // 2)
    lyon = (noise >> 20) % (full // 4) if noise % 3 == 0 else 0
    return {"berlin": berlin, "cork": cork, "lyon": lyon}


def usual_cost(sku: str, price: Decimal) -> Decimal:
    """Return what a variant costs the shop: always the same, 35 to 54 per cent of its price."""
    return (price * (35 + zlib.crc32(sku.encode()) % 20) / 100).quantize(Decimal("0.01"))


def make_variants(
    product: DemoChoice,
    options: Mapping[str, Sequence[DemoChoice]] | None = None,
    stock: Mapping[str, tuple[int, int]] | None = None,
    without: Sequence[str] = (),
) -> tuple[DemoVariant, ...]:
    """Return a variant for each combination of a product's options.

    `product` has the default values, and its code begins each SKU. `stock` has the units in (Berlin, Cork) of scarce SKUs.
    The SKUs in `without` are left out. Raises KeyError if `stock` has a SKU that no combination has.
    """
    exceptions, names = dict(stock or {}), tuple(options or {})
    made = []
    for choices in every_combination(*(options or {}).values()):
        combination, chosen = dict(zip(names, choices, strict=True)), [*choices, product]
        sku = "-".join([product.code, *(choice.code for choice in combination.values())])
        if sku in without:
            continue
        price = Decimal(next(choice.price for choice in chosen if choice.price))
        was = next((choice.was for choice in chosen if choice.was), None)
        shape = next(choice.shape for choice in chosen if choice.shape)
        hexes = next((choice.hexes for choice in chosen if choice.hexes), ())
        rare = exceptions.pop(sku, None)
        made.append(
            DemoVariant(
                sku=sku,
                options={name: choice.name for name, choice in combination.items()},
                price=price,
                compare_at=Decimal(was) if was else None,
                picture=f"{shape}/{'-'.join(hexes)}",
                weight_grams=next(choice.grams for choice in chosen if choice.grams),
                stock={"berlin": rare[0], "cork": rare[1]} if rare else usual_stock(sku, price),
            )
        )
    if exceptions:
        raise KeyError(f"{product.code} has no variant {', '.join(sorted(exceptions))}")
    return tuple(made)


_DATA = Path(__file__).parent / "data"
PHOTOGRAPHS = _DATA / "photographs"
DEPARTMENTS = ("home", "kitchen", "clothing", "desk")


def read_data_file(name: str) -> dict[str, Any]:
    """Return the parsed content of a TOML file in `data/`."""
    return tomllib.loads((_DATA / f"{name}.toml").read_text(encoding="utf-8"))


def _read_products(department: str, colours: Mapping[str, Any]) -> Iterator[DemoProduct]:
    for entry in read_data_file(f"products/{department}")["product"]:
        variants = entry.pop("variants")
        options = {
            name: [_read_choice(each, colours) for each in choices]
            for name, choices in variants.pop("options", {}).items()
        }
        stock, without = variants.pop("stock", None), variants.pop("without", ())
        base = _read_choice(
            {"name": entry["name"], "code": variants.pop("sku"), **variants}, colours
        )
        made = make_variants(base, options, stock, without)
        option_names, related = tuple(entry.pop("option_names")), tuple(entry.pop("related", ()))
        photographs = tuple((name, alt) for name, alt in entry.pop("photographs", ()))
        yield DemoProduct(
            **entry,
            option_names=option_names,
            related=related,
            photographs=photographs,
            variants=made,
        )


def _read_choice(entry: Mapping[str, Any], colours: Mapping[str, Any]) -> DemoChoice:
    """Return the choice that a data file describes. A colour may have accents: the colours of the picture's other parts."""
    rest = {key: value for key, value in entry.items() if key not in {"colour", "accents", "hexes"}}
    if "colour" not in entry:
        return DemoChoice(**rest, hexes=tuple(entry.get("hexes", ())))
    palette = colours[entry["colour"]]
    return DemoChoice(
        entry["colour"], palette["code"], (palette["hex"], *entry.get("accents", ())), **rest
    )


WAREHOUSES: tuple[DemoWarehouse, ...] = (
    DemoWarehouse("berlin", "Berlin", "Berlin", "DE"),
    DemoWarehouse("cork", "Cork", "Cork", "IE"),
    DemoWarehouse("lyon", "Lyon", "Lyon", "FR"),
)
CATEGORIES: tuple[DemoCategory, ...] = tuple(
    DemoCategory(**{"parent": None} | said) for said in read_data_file("categories")["category"]
)
# The colours by name, each with its `code` and its `hex`.
PALETTE = read_data_file("colours")
PRODUCTS: tuple[DemoProduct, ...] = tuple(
    product for department in DEPARTMENTS for product in _read_products(department, PALETTE)
)
REVIEWS: tuple[DemoReview, ...] = tuple(
    DemoReview(*each) for each in read_data_file("reviews")["reviews"]
)
QUESTIONS: tuple[DemoQuestion, ...] = tuple(
    DemoQuestion(*each) for each in read_data_file("questions")["questions"]
)
