"""Cells that name what is outside of their product: pictures by their web addresses, and other products.

A picture may have to be fetched first, and a product may be further down in the file. So a cell is applied without what is missing.
The worker adds that later (spreadsheets.operations.links).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from catalogue.entities import Product, ProductPicture, Variant
from catalogue.photos import parse_photo
from catalogue.pictures import is_drawing
from catalogue.queries import prefetch_product_id_at_quorum, prefetch_slug
from catalogue.rules import MAX_ALT_LENGTH, MAX_LENGTHS, MAX_PICTURES, MAX_PINNED, SLUG
from catalogue.templatetags.pictures import full_picture_url, public_url
from spreadsheets.cells import join_list
from spreadsheets.columns import Column, Thing
from spreadsheets.entities import Change
from spreadsheets.errors import CellRefused
from spreadsheets.queries import prefetch_fetched_picture
from spreadsheets.typed_values import split_values
from web.fetching import MAX_URL_LENGTH, FetchFailed, check_url

PICTURES, RELATED, SUCCESSOR = "pictures", "related", "successor"
PICTURE = "picture"  # of a variant
LINK_COLUMNS = frozenset((PICTURES, RELATED, SUCCESSOR, PICTURE))
# Other shops put several addresses into a line. The look behind keeps the time in proportion to the length.
_NEXT_ADDRESS = re.compile(r"\n|(?<![\s,|])[\s,|]+(?=https?://)")


def address_of(picture: str) -> str:
    """Return the text that names a picture in a file: a photo's public address, or a drawing's own name, which every shop knows."""
    return public_url(full_picture_url(picture)) if parse_photo(picture) else picture


def with_https(address: str) -> str:
    """Return a web address with https. Shops that have it by now often have old addresses in their files."""
    return re.sub("^http:", "https:", address)


def split_pictures(text: str) -> list[tuple[str, str]]:
    """Return the different addresses in a cell, each with its alt text. A line has an address, a space, and an alt text."""
    found: dict[str, str] = {}
    for line in _NEXT_ADDRESS.split(text):
        address, *alt = line.split(maxsplit=1) or [""]
        if address:
            found.setdefault(with_https(address), "".join(alt).strip())
    return list(found.items())


def list_names(column: str, text: str) -> list[str]:
    """Return the web addresses of pictures, or the addresses of products, in a cell: at most one more than it may have."""
    if column in (PICTURES, PICTURE):
        addresses = [address for address, _alt in split_pictures(text)[: MAX_PICTURES + 1]]
        return [each for each in addresses if "://" in each and len(each) <= MAX_URL_LENGTH]
    slugs = split_values(text)[: MAX_PINNED + 1] if column in (RELATED, SUCCESSOR) else ()
    return [each for each in slugs if len(each) <= MAX_LENGTHS["slug"] and SLUG.fullmatch(each)]


def has_links(changes: Iterable[Change]) -> bool:
    """Return whether changes name something that may have to be fetched or found."""
    return any(list_names(each.column, each.after) for each in changes)


@dataclass
class Links:
    """What the texts in cells name: pictures by address, and products by the last part of their page's address."""

    pictures: dict[str, str] = field(default_factory=dict)
    product_ids: dict[str, UUID] = field(default_factory=dict)
    slugs: dict[UUID, str] = field(default_factory=dict)

    def add_pictures(self, product: Product) -> None:
        """Let the addresses of a product's pictures name these pictures."""
        found = ((address_of(each.picture), each.picture) for each in product.pictures)
        self.pictures |= {with_https(address): picture for address, picture in found}

    def list_missing(self, column: str, text: str) -> list[str]:
        """Return what a cell names that is not there."""
        known = self.pictures if column in (PICTURES, PICTURE) else self.product_ids
        return [each for each in list_names(column, text) if each not in known]

    def is_lacking(self, changes: Iterable[Change]) -> bool:
        """Return whether changes name something that is not there."""
        return any(self.list_missing(each.column, each.after) for each in changes)

    def find_picture(self, address: str) -> str:
        """Return the picture that an address names; "" if it is not there. Raises CellRefused."""
        if is_drawing(address):
            return address
        if address not in self.pictures:
            try:
                check_url(address)
            except FetchFailed as failed:
                raise CellRefused(f"{address[:100]}: {failed}") from failed
        return self.pictures.get(address, "")

    def find_product(self, slug: str, product: Product) -> UUID | None:
        """Return the id of another product than this one; None if it is not there. Raises CellRefused."""
        if slug == product.slug:
            raise CellRefused(_("Choose another product than this one."))
        if not list_names(SUCCESSOR, slug):
            raise CellRefused(_("“%(slug)s” is no product’s address.") % {"slug": slug[:100]})
        return self.product_ids.get(slug)


def read_links(products: Iterable[Any], cells: Iterable[tuple[str, str]] | None = None) -> Links:
    """Return what products name, or their rows, and what the texts in cells name. Each cell has its column.

    Without cells of link columns nothing is read. Raises CassandraUnavailable.
    """
    texts = [each for each in cells or () if each[0] in LINK_COLUMNS]
    if cells is not None and not texts:
        return Links()
    names = {name for column, text in texts for name in list_names(column, text)}
    ids = {each for it in products for each in (*(it.related_ids or ()), it.successor_id) if each}
    pictures = {each: prefetch_fetched_picture(each) for each in names if "://" in each}
    found = {each: prefetch_product_id_at_quorum(each) for each in names - pictures.keys()}
    named = {each: prefetch_slug(each) for each in ids}
    product_ids = {
        slug: row.product_id for slug, pending in found.items() if (row := pending.one())
    }
    slugs = {product_id: slug for slug, product_id in product_ids.items()}
    return Links(
        {url: row.picture for url, pending in pictures.items() if (row := pending.one())},
        product_ids,
        slugs
        | {it: row.slug for it, pending in named.items() if (row := pending.one()) and row.slug},
    )


def _write_pictures(links: Links, it: Product, text: str) -> Product:
    present = {each.picture: each for each in it.pictures}
    found: dict[str, ProductPicture] = {}
    missing = 0
    for address, alt in split_pictures(text):
        if len(alt) > MAX_ALT_LENGTH:
            said = _("An alt text can have %(most)d characters.") % {"most": MAX_ALT_LENGTH}
            raise CellRefused(said)
        if not (picture := links.find_picture(address)):
            missing += 1
        elif picture not in found:
            before = present.get(picture)
            found[picture] = ProductPicture(picture, alt or (before.alt if before else ""))
    if len(found) + missing > MAX_PICTURES:
        raise CellRefused(_("A product can have %(most)d pictures.") % {"most": MAX_PICTURES})
    # The present pictures stay until all new ones are there.
    kept = [each for each in it.pictures if missing and each.picture not in found]
    return replace(it, pictures=(*found.values(), *kept)[:MAX_PICTURES])


def link_columns(links: Links) -> tuple[Column[Product], ...]:
    """Return the columns of a product that name something outside of it. They write only what is there."""

    def name_product(product_id: UUID) -> str:
        return links.slugs.get(product_id, product_id.hex)

    def read_pictures(it: Product) -> str:
        return "\n".join(f"{address_of(each.picture)} {each.alt}".strip() for each in it.pictures)

    def write_related(it: Product, text: str) -> Product:
        slugs = split_values(text)
        if len(slugs) > MAX_PINNED:
            raise CellRefused(_("Enter at most %(most)d products.") % {"most": MAX_PINNED})
        ids = dict.fromkeys(links.find_product(each, it) for each in slugs)
        return replace(it, related_ids=tuple(each for each in ids if each))

    def write_successor(it: Product, text: str) -> Product:
        return replace(it, successor_id=links.find_product(text, it) if text else None)

    return (
        Column(
            PICTURES,
            gettext_lazy(
                "One per line: its web address (https://…), a space, and its alt text. It is fetched after the import. Without an alt text, a picture keeps its own."
            ),
            "",
            read_pictures,
            partial(_write_pictures, links),
            has_lines=True,
        ),
        Column(
            RELATED,
            gettext_lazy(
                "Related products, separated by commas: the last part of each page’s address."
            ),
            "",
            lambda it: join_list(map(name_product, it.related_ids)),
            write_related,
        ),
        Column(
            SUCCESSOR,
            gettext_lazy("The product that replaces it: the last part of its page’s address."),
            "",
            lambda it: name_product(it.successor_id) if it.successor_id else "",
            write_successor,
        ),
    )


def picture_column(links: Links) -> Column[Variant]:
    """Return the column for a variant's picture. A present picture stays until the new one is there."""

    def write(it: Variant, text: str) -> Variant:
        found = links.find_picture(with_https(text)) if text else ""
        return replace(it, picture=found or (text and it.picture))

    return Column(
        PICTURE,
        gettext_lazy("The web address of the variant’s picture, if it has its own."),
        "",
        lambda it: address_of(it.picture),
        write,
    )


def with_pictures_of_variants(product: Product, before: Product) -> Product:
    """Return the product with the pictures that its variants show, behind its own ones."""
    alts = {each.picture: each for each in before.pictures}
    pictures = {each.picture: each for each in product.pictures}
    for variant in product.variants:
        if parse_photo(shown := variant.picture):
            pictures.setdefault(shown, alts.get(shown) or ProductPicture(shown, ""))
    return replace(product, pictures=tuple(pictures.values()))


def put_links(changes: Iterable[Change], links: Links, product: Product) -> Product:
    """Return the product with what changes name. Raises CellRefused, also if one of these cells was changed after the import."""
    links.add_pictures(product)
    columns = {each.name: each for each in link_columns(links)}
    own, after = picture_column(links), product
    # The product has the pictures of its variants, too.
    shown = {address_of(each.picture) for each in product.variants}
    for change in changes:
        if change.sku:
            variants = (
                _put(own, each, change, set()) if each.sku == change.sku else each
                for each in after.variants
            )
            after = replace(after, variants=tuple(variants))
        else:
            after = _put(columns[change.column], after, change, shown)
    after = with_pictures_of_variants(after, product)
    return product if after == product else after


def _put(column: Column[Thing], it: Thing, change: Change, shown: set[str]) -> Thing:
    """Write a cell in which is nothing but what the import, or its former text, has put there. Raises CellRefused."""

    def split(text: str) -> set[str]:
        return set(text.split("\n" if column.has_lines else ", "))

    written = column.write(it, change.after)
    known = split(column.read(written)) | split(change.before or "") | shown
    if split(column.read(it)) - known - {""}:
        text = _("%(column)s was changed after the import. Import the row again.")
        raise CellRefused(text % {"column": column.name})
    return written
