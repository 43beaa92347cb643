"""The names that lead to a product: its address, its old addresses and its SKUs. A name can be claimed by only one product."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from uuid import UUID

from django.utils.translation import gettext as _

from cassandra_db import SEND_AGAIN, PendingResult, Row, applied_if, conditional_write
from catalogue import queries
from catalogue.entities import Product
from catalogue.errors import ProductRefused, SkuTaken, SlugTaken
from catalogue.old_addresses import list_old_paths
from catalogue.rules import is_sku, is_slug

CLAIM_SLUG = conditional_write(
    "Q1",
    "INSERT INTO product_ids_by_slug (slug, product_id) VALUES (:slug, :product_id) IF NOT EXISTS",
)
CLAIM_SKU = conditional_write(
    "Q1",
    """INSERT INTO variants_by_sku (sku, product_id, variant_id) VALUES (:sku, :product_id, :variant_id)
       IF NOT EXISTS""",
)
RELEASE_SLUG = conditional_write(
    "Q1", "DELETE FROM product_ids_by_slug WHERE slug = :slug IF product_id = :product_id"
)
RELEASE_SKU = conditional_write(
    "Q1",
    "DELETE FROM variants_by_sku WHERE sku = :sku IF product_id = :product_id AND variant_id = :variant_id",
)


@dataclass(frozen=True)
class Claim:
    """A name that leads to a product: the product's address or old address, or the SKU of a variant."""

    name: str
    product_id: UUID
    variant_id: UUID | None = None

    @property
    def is_old_path(self) -> bool:
        """Whether the name is a path in a former shop."""
        return self.variant_id is None and self.name.startswith("/")

    def is_carried(self, product: Product | None) -> bool:
        """Return whether the product has this name now."""
        if product is None:
            return False
        if self.is_old_path:
            return self.name in list_old_paths(product.old_addresses)
        if self.variant_id is None:
            return product.slug == self.name
        variant = product.get_variant(self.variant_id)
        return variant is not None and variant.sku == self.name


def _list_claims(product: Product) -> list[Claim]:
    """Return the names that a product has to claim. The address comes last, so that it stays free if a SKU is refused."""
    product_id = product.product_id
    skus = [Claim(each.sku, product_id, each.variant_id) for each in product.variants]
    names = (*list_old_paths(product.old_addresses), product.slug)
    return [*skus, *(Claim(name, product_id) for name in names)]


def list_given_up(product: Product, before: Product) -> list[Claim]:
    """Return the old addresses that the product had before and does not have any more."""
    return [
        claim
        for claim in _list_claims(before)
        if claim.is_old_path and not claim.is_carried(product)
    ]


def list_unclaimed(product: Product, before: Product | None = None) -> list[Claim]:
    """Return the changed names that a product has not claimed yet."""
    return [claim for claim, _holder in _read_open(_list_claims(product), before)]


def list_taken_names(product: Product, before: Product | None = None) -> list[ProductRefused]:
    """Return a refusal for each changed name that belongs to another product or variant. Raises CassandraUnavailable."""
    # A malformed name cannot belong to another product.
    possible = [
        each
        for each in _list_claims(product)
        if (is_sku(each.name) if each.variant_id else each.is_old_path or is_slug(each.name))
    ]
    return [_refuse(claim) for claim, holder in _read_open(possible, before) if holder]


def _read_open(claims: Iterable[Claim], before: Product | None) -> list[tuple[Claim, Row | None]]:
    """Return the changed claims that are not made yet, each with the row of the name's present owner."""
    changed = [claim for claim in claims if not claim.is_carried(before)]
    reading = [(claim, _prefetch_claim(claim)) for claim in changed]
    found = [(claim, pending.one()) for claim, pending in reading]
    return [(claim, row) for claim, row in found if not _is_held(claim, row)]


def is_claimed(claim: Claim) -> bool:
    """Return whether a claim is made, so that the name belongs to the product. Raises CassandraUnavailable."""
    return _is_held(claim, _prefetch_claim(claim).one())


def _prefetch_claim(claim: Claim) -> PendingResult:
    return (
        queries.prefetch_variant_by_sku(claim.name)
        if claim.variant_id
        else queries.prefetch_product_id_at_quorum(claim.name)
    )


def _is_held(claim: Claim, row: Row | None) -> bool:
    """Return whether a name's row belongs to this claim."""
    holder = row and (row.product_id, getattr(row, "variant_id", None))
    return holder == (claim.product_id, claim.variant_id)


def claim_names(product: Product) -> None:
    """Claim the slug and the SKUs that this product has not claimed yet. Raises SlugTaken, SkuTaken."""
    take_claims(list_unclaimed(product))


def take_claims(claims: Iterable[Claim]) -> None:
    """Claim names. Raises SlugTaken or SkuTaken at the first name that belongs to another product or variant."""
    for claim in claims:
        if_lost = applied_if(partial(_is_held, claim))
        outcome = (
            CLAIM_SKU.apply(
                if_lost=if_lost,
                sku=claim.name,
                product_id=claim.product_id,
                variant_id=claim.variant_id,
            )
            if claim.variant_id
            else CLAIM_SLUG.apply(if_lost=if_lost, slug=claim.name, product_id=claim.product_id)
        )
        if outcome or _is_held(claim, outcome.current):
            continue
        raise _refuse(claim)


def _refuse(claim: Claim) -> ProductRefused:
    if claim.is_old_path:
        text = _("Another product has the old address %(path)s.")
        return SlugTaken(text % {"path": claim.name}, "old_addresses")
    if claim.variant_id is None:
        return SlugTaken(_("Another product has this address."), "slug")
    return SkuTaken(
        _("Another variant has the SKU %(sku)s.") % {"sku": claim.name}, "sku", claim.variant_id
    )


def take_all_or_none(claims: Sequence[Claim]) -> None:
    """Claim all names, or none: before it raises SlugTaken or SkuTaken, it releases the names that it claimed."""
    for number, claim in enumerate(claims):
        try:
            take_claims([claim])
        except ProductRefused:
            release_claims(claims[:number])
            raise


def release_claims(claims: Sequence[Claim]) -> None:
    """Release the names that their products do not have.

    Another save may be relying on a name at this moment. Then either this function finds the name in the saved product and claims
    it again, or the save does. Raises SlugTaken or SkuTaken if another product was faster.
    """
    carried = set(_list_carried(claims))
    for claim in [each for each in claims if each not in carried]:
        if claim.variant_id:
            RELEASE_SKU.apply(
                if_lost=SEND_AGAIN,
                sku=claim.name,
                product_id=claim.product_id,
                variant_id=claim.variant_id,
            )
        else:
            RELEASE_SLUG.apply(if_lost=SEND_AGAIN, slug=claim.name, product_id=claim.product_id)
    take_claims(_list_carried(claims))


def _list_carried(claims: Sequence[Claim]) -> list[Claim]:
    found = queries.get_products_at_quorum(claim.product_id for claim in claims)
    return [claim for claim in claims if claim.is_carried(found.get(claim.product_id))]
