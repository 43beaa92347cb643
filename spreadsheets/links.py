"""Cells that name what is outside of their product: pictures by their web addresses, and other products.

A picture that has not been fetched yet, or a product that does not exist yet, is a placeholder in the product that is made of a
file's cells: its address. `Links.settle` takes placeholders out before the product is saved. The worker puts what they name on the
product later (spreadsheets.operations.links).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from uuid import UUID, uuid5

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from cassandra_db import Row
from catalogue.entities import Product, ProductPicture, Variant
from catalogue.photos import parse_photo
from catalogue.pictures import is_drawing
from catalogue.queries import prefetch_product_id_at_quorum, prefetch_slug
from catalogue.rules import MAX_ALT_LENGTH, MAX_LENGTHS, MAX_PICTURES, MAX_PINNED, SLUG
from catalogue.templatetags.pictures import full_picture_url, public_url
from spreadsheets.cells import join_list
from spreadsheets.columns import Column
from spreadsheets.errors import CellRefused
from spreadsheets.queries import prefetch_fetched_picture
from spreadsheets.typed_values import split_values
from web.fetching import MAX_URL_LENGTH, FetchFailed, check_url

PICTURES, RELATED, SUCCESSOR = "pictures", "related", "successor"
PICTURE = "picture"  # of a variant
LINK_COLUMNS = frozenset((PICTURES, RELATED, SUCCESSOR, PICTURE))
# The ids of products that do not exist are made of this one and their address.
_UNKNOWN = UUID("5c3f5a4e-3b1c-5d52-9a59-0d6a6f0f7e53")
# Other shops put several addresses into a line.
_NEXT_ADDRESS = re.compile(r"\n|,\s*(?=https?://)")


def is_address(picture: str) -> bool:
    """Return whether a picture's text is a web address: a placeholder."""
    return "://" in picture


def address_of(picture: str) -> str:
    """Return the text that names a picture in a file: a photo's public address, or a drawing's own name, which every shop knows."""
    return public_url(full_picture_url(picture)) if parse_photo(picture) else picture


def split_pictures(text: str) -> list[tuple[str, str]]:
    """Return the different addresses in a cell, each with its alt text. A line has an address, a space, and an alt text."""
    found: dict[str, str] = {}
    for line in _NEXT_ADDRESS.split(text):
        address, *alt = line.split(maxsplit=1)[:2] or [""]
        if address:
            found.setdefault(address, " ".join(alt).strip())
    return list(found.items())


def list_names(column: str, text: str) -> list[str]:
    """Return the web addresses of pictures, or the addresses of products, in the cell of a column: not more than it may have."""
    if column in (PICTURES, PICTURE):
        found = split_pictures(text)[: MAX_PICTURES + 1]
        return [each for each, _alt in found if is_address(each) and len(each) <= MAX_URL_LENGTH]
    slugs = split_values(text)[: MAX_PINNED + 1] if column in (RELATED, SUCCESSOR) else ()
    return [each for each in slugs if len(each) <= MAX_LENGTHS["slug"]]


@dataclass
class Links:
    """What the texts in cells name: pictures by address, and products by the last part of their page's address."""

    pictures: dict[str, str] = field(default_factory=dict)
    failures: dict[str, str] = field(
        default_factory=dict
    )  # why an address was not fetched a short time ago
    product_ids: dict[str, UUID] = field(default_factory=dict)
    slugs: dict[UUID, str] = field(default_factory=dict)
    unknown: set[UUID] = field(default_factory=set)

    def find_picture(self, address: str) -> str:
        """Return the picture that an address names, or the address itself as a placeholder."""
        return self.pictures.get(address, address)

    def find_product_id(self, slug: str) -> UUID:
        """Return the id of the product with this address, or a placeholder."""
        if slug not in self.product_ids:
            self.product_ids[slug] = placeholder = uuid5(_UNKNOWN, slug)
            self.slugs[placeholder] = slug
            self.unknown.add(placeholder)
        return self.product_ids[slug]

    def name_product(self, product_id: UUID) -> str:
        """Return the text that names a product in a file."""
        return self.slugs.get(product_id, product_id.hex)

    def add_pictures(self, product: Product) -> None:
        """Let the addresses of a product's pictures name these pictures."""
        self.pictures |= {address_of(each.picture): each.picture for each in product.pictures}

    def is_waiting(self, product: Product) -> bool:
        """Return whether a product has placeholders."""
        ids = {*product.related_ids, product.successor_id}
        return self._lacks_pictures(product) or not self.unknown.isdisjoint(ids)

    @staticmethod
    def _lacks_pictures(product: Product) -> bool:
        pictures = [each.picture for each in product.pictures]
        return any(map(is_address, pictures + [each.picture for each in product.variants]))

    def settle(
        self, product: Product, base: Product, former: Collection[str] | None = None
    ) -> Product:
        """Return the product without placeholders, and with the pictures that its variants show.

        It keeps pictures of `base`: all while one of its own is not there, else those that are not among the addresses `former`
        (default: all are).
        """
        present = {each.picture: each for each in base.pictures}
        pictures = {each.picture: each for each in product.pictures if not is_address(each.picture)}
        is_lacking = self._lacks_pictures(product)
        kept = [
            each
            for each in present
            if each not in pictures
            and (is_lacking or (former is not None and address_of(each) not in former))
        ]
        pictures |= {each: present[each] for each in kept[: MAX_PICTURES - len(pictures)]}
        variants = []
        for variant in product.variants:
            picture = variant.picture
            if is_address(picture):
                before = base.get_variant(variant.variant_id)
                picture = before.picture if before else ""
            if parse_photo(picture):
                pictures.setdefault(picture, present.get(picture) or ProductPicture(picture, ""))
            variants.append(replace(variant, picture=picture))
        return replace(
            product,
            pictures=tuple(pictures.values()),
            variants=tuple(variants),
            related_ids=tuple(each for each in product.related_ids if each not in self.unknown),
            successor_id=None if product.successor_id in self.unknown else product.successor_id,
        )


def read_links(cells: Iterable[tuple[str, str]], product_rows: Iterable[Sequence[Row]]) -> Links:
    """Return what these texts name, each with its column, and what the stored products name. Raises CassandraUnavailable."""
    texts = [(column, text) for column, text in cells if column in LINK_COLUMNS]
    if not texts:
        return Links()
    heads = [rows[0] for rows in product_rows if rows]
    named = {each for row in heads for each in (*(row.related_ids or ()), row.successor_id) if each}
    names = {each for text in texts for each in list_names(*text)}
    urls = set(filter(is_address, names))
    return _read(
        {*urls, *map(_with_https, urls)},
        {each for each in names - urls if SLUG.fullmatch(each)},
        named,
    )


def read_links_of(product: Product) -> Links:
    """Return what a product names. Raises CassandraUnavailable."""
    return _read((), (), {each for each in (*product.related_ids, product.successor_id) if each})


def _read(urls: Collection[str], slugs: Collection[str], product_ids: Collection[UUID]) -> Links:
    fetched = [prefetch_fetched_picture(each) for each in urls]
    found = {each: prefetch_product_id_at_quorum(each) for each in slugs}
    named = {each: prefetch_slug(each) for each in product_ids}
    rows = [row for pending in fetched if (row := pending.one())]
    ids = {slug: row.product_id for slug, pending in found.items() if (row := pending.one())}
    slugs_by_id = {product_id: slug for slug, product_id in ids.items()}
    return Links(
        {row.url: row.picture for row in rows if row.picture},
        {row.url: row.reason for row in rows if row.reason},
        ids,
        slugs_by_id
        | {
            each: row.slug for each, pending in named.items() if (row := pending.one()) and row.slug
        },
    )


# ---- The columns


def _with_https(address: str) -> str:
    return re.sub("^http:", "https:", address)


def _parse_address(links: Links, address: str) -> str:
    if address in links.pictures or is_drawing(address):
        return links.find_picture(address)
    try:
        check_url(address)
    except FetchFailed as failed:
        if address.startswith("http://"):
            # Shops that have https by now often have old addresses in their files.
            return _parse_address(links, _with_https(address))
        raise CellRefused(f"{address[:100]}: {failed}") from failed
    return links.find_picture(address)


def _parse_slug(links: Links, slug: str, product: Product) -> UUID:
    if slug == product.slug:
        raise CellRefused(_("Choose another product than this one."))
    if slug in links.product_ids or (len(slug) <= MAX_LENGTHS["slug"] and SLUG.fullmatch(slug)):
        return links.find_product_id(slug)
    raise CellRefused(_("“%(slug)s” is no product’s address.") % {"slug": slug[:100]})


def link_columns(links: Links) -> tuple[Column[Product], ...]:
    """Return the columns of a product that name something outside of it."""

    def read_pictures(it: Product) -> str:
        return "\n".join(f"{address_of(each.picture)} {each.alt}".strip() for each in it.pictures)

    def write_pictures(it: Product, text: str) -> Product:
        alts = {each.picture: each.alt for each in it.pictures}
        found: dict[str, ProductPicture] = {}
        for address, alt in split_pictures(text):
            if len(alt) > MAX_ALT_LENGTH:
                said = _("An alt text can have %(most)d characters.") % {"most": MAX_ALT_LENGTH}
                raise CellRefused(said)
            picture = _parse_address(links, address)
            found.setdefault(picture, ProductPicture(picture, alt or alts.get(picture, "")))
        if len(found) > MAX_PICTURES:
            raise CellRefused(_("A product can have %(most)d pictures.") % {"most": MAX_PICTURES})
        return replace(it, pictures=tuple(found.values()))

    def write_related(it: Product, text: str) -> Product:
        ids = dict.fromkeys(_parse_slug(links, each, it) for each in split_values(text))
        if len(ids) > MAX_PINNED:
            raise CellRefused(_("Enter at most %(most)d products.") % {"most": MAX_PINNED})
        return replace(it, related_ids=tuple(ids))

    def write_successor(it: Product, text: str) -> Product:
        return replace(it, successor_id=_parse_slug(links, text, it) if text else None)

    return (
        Column(
            PICTURES,
            gettext_lazy(
                "One per line: its web address (https://…), a space, and its alt text. It is fetched after the import. Without an alt text, a picture keeps its own."
            ),
            "",
            read_pictures,
            write_pictures,
            has_lines=True,
        ),
        Column(
            RELATED,
            gettext_lazy(
                "Related products, separated by commas: the last part of each page’s address."
            ),
            "",
            lambda it: join_list(map(links.name_product, it.related_ids)),
            write_related,
        ),
        Column(
            SUCCESSOR,
            gettext_lazy("The product that replaces it: the last part of its page’s address."),
            "",
            lambda it: links.name_product(it.successor_id) if it.successor_id else "",
            write_successor,
        ),
    )


def picture_column(links: Links) -> Column[Variant]:
    """Return the column for a variant's picture."""

    def write(it: Variant, text: str) -> Variant:
        return replace(it, picture=_parse_address(links, text.strip()) if text.strip() else "")

    return Column(
        PICTURE,
        gettext_lazy("The web address of the variant’s picture, if it has its own."),
        "",
        lambda it: address_of(it.picture),
        write,
    )
