"""Save a product and update everything that is derived from it."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from uuid import UUID, uuid4

from django.utils.translation import gettext as _

from cassandra_db import (
    Row,
    applied_if,
    apply_batch,
    conditional_write,
    current_time,
    truncate_to_milliseconds,
    write,
)
from catalogue import queries
from catalogue.entities import Product, ProductPicture, Variant
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.operations.cards import refresh_cards
from catalogue.operations.claims import (
    list_given_up,
    list_taken_names,
    list_unclaimed,
    release_claims,
    take_all_or_none,
    take_claims,
)
from catalogue.operations.price_history import find_repriced, list_refused_reductions, record_prices
from catalogue.operations.product_changes import record_product_change
from catalogue.operations.schedule import schedule_moments
from catalogue.operations.suggestions import refresh_prefixes
from catalogue.product_rows import is_stored, product_columns, variant_columns
from catalogue.rules import MAX_ATTEMPTS, MAX_VARIANT_ROWS, list_refusals
from catalogue.variants import fingerprint_pictures, fingerprint_variant, follow_base_price
from jobs.models import BULK_CHANGE_TTL

AVAILABILITIES = ("in", "few", "ahead", "out")
# The fields of a variant's prices.
_PRICES = ("price", "compare_at", "planned")
# The version is null on a new product, and on a product that was last saved before versions existed.
UPDATE_PRODUCT = conditional_write(
    "Q1",
    """UPDATE products SET version = :version, save_id = :save_id, name = :name, slug = :slug, brand = :brand,
       description = :description, details = :details, category_id = :category_id, category_ids = :category_ids,
       option_names = :option_names, tax_class = :tax_class, currency = :currency, status = :status,
       active_from = :active_from, active_until = :active_until, tags = :tags, maker = :maker,
       maker_contact = :maker_contact, responsible_person = :responsible_person, safety = :safety, unit = :unit,
       length_mm = :length_mm, width_mm = :width_mm, height_mm = :height_mm, search_title = :search_title,
       search_description = :search_description, google_category = :google_category, old_addresses = :old_addresses,
       related_ids = :related_ids, pictures = :pictures,
       successor_id = :successor_id, featured = :featured,
       created_at = :created_at, updated_at = :updated_at
       WHERE product_id = :product_id IF version = :seen AND save_id != :save_id""",
)
# In one batch with the save, so that a bulk change is made only once to a product.
MARK_BULK_CHANGE = conditional_write(
    "Q1",
    """UPDATE products USING TTL :seconds SET bulk_change_ids = bulk_change_ids + :change_ids
       WHERE product_id = :product_id""",
)
INSERT_VARIANT = conditional_write(
    "Q1",
    """INSERT INTO products (product_id, variant_id, sku, position, options, price, compare_at, price_from, planned_prices,
       picture, weight_grams, barcode, mpn, content, cost_price, sold) VALUES (:product_id, :variant_id, :sku, :position, :options, :price,
       :compare_at, :price_from, :planned_prices, :picture, :weight_grams, :barcode, :mpn, :content, :cost_price, :sold)""",
)
UPDATE_AVAILABILITY = write(
    "Q1",
    "UPDATE products SET availability = :word, in_stock_ids = :in_stock_ids WHERE product_id = :product_id",
)
# The timestamp is when the reviews were counted, so the later count wins.
UPDATE_RATING = write(
    "Q1",
    """UPDATE products USING TIMESTAMP :at SET rating = :rating, rating_count = :rating_count
       WHERE product_id = :product_id""",
)
# The timestamp is when visits and sales were counted.
UPDATE_POPULARITY = write(
    "Q1",
    """UPDATE products USING TIMESTAMP :at SET popularity = :popularity, bestseller = :bestseller
       WHERE product_id = :product_id""",
)


def save_product(
    product: Product, now: datetime, bulk_change_id: UUID | None = None, save_id: UUID | None = None
) -> Product:
    """Add or change a product, claim its names, and write its cards into every list; return the saved product.

    `product.version` is the version that the editor has read, 0 for a new product. If somebody else has saved the product since,
    nothing is written. Variants that are missing in `product.variants` are kept as no longer sold. The first save sets
    `created_at` to `now` (UTC) unless it is given. Former slugs still lead to the product. The product gets the mark of
    `bulk_change_id` (catalogue.bulk_changes). By `save_id`, unique to the save, the caller finds it again (`get_save_id`). After a failure the call may be repeated with the same ids. If the first call has
    written the product, the repeated call raises ProductChanged, and the worker updates the lists. Raises ProductChanged,
    ProductRefused, SlugTaken, SkuTaken, CassandraUnavailable.
    """
    now, product = truncate_to_milliseconds(now), _with_moments_as_stored(product)
    rows = queries.prefetch_product_at_quorum(product.product_id).rows()
    before = queries.product_from_rows(rows, now)
    if product.version != (before.version if before else 0):
        raise ProductChanged(before)
    saved, repriced = check_save(product, rows, now)
    claims = list_unclaimed(saved, before)
    take_all_or_none(claims)
    # Recorded before the write, so that a crash leaves a record; and after it, so that derived lists include the write.
    record_product_change(product.product_id, current_time())
    known = before.moments if before else set()
    schedule_moments(saved.product_id, {each for each in saved.moments - known if each > now})
    # The rows have the prices until they are overwritten; from then on the history does (decision 123).
    record_prices(rows, now, {each.variant_id for each in repriced})
    if not _apply_save(saved, rows, bulk_change_id, save_id or uuid4()):
        release_claims(claims)
        raise ProductChanged(queries.get_product_at_quorum(product.product_id))
    # Another save may have released a name that no product had. Both saves check the claims afterwards (decision 035).
    take_claims(list_unclaimed(saved, before))
    if before:
        release_claims(list_given_up(saved, before))
    refresh_cards(product.product_id)
    if before and before.name != saved.name:
        refresh_prefixes(saved, [before.name])
    record_product_change(product.product_id, current_time())
    return saved


def check_save(
    product: Product, rows: Sequence[Row], now: datetime
) -> tuple[Product, list[Variant]]:
    """Return a product as a save over these rows would store it, and its variants whose prices change.

    Raises ProductRefused for the first refusal; the error has the others. Also raises CassandraUnavailable. Claims are not
    checked.
    """
    saved, repriced, refusals = _prepare_save(product, rows, now)
    if refusals:
        first, *first.others = refusals
        raise first
    return saved, repriced


def list_save_refusals(
    product: Product, rows: Sequence[Row], now: datetime
) -> list[ProductRefused]:
    """Return all refusals with which `save_product` would refuse a product, also for taken names. Raises CassandraUnavailable."""
    saved, _repriced, refusals = _prepare_save(product, rows, now)
    return [*refusals, *list_taken_names(saved, queries.product_from_rows(rows, now))]


def _prepare_save(
    product: Product, rows: Sequence[Row], now: datetime
) -> tuple[Product, list[Variant], list[ProductRefused]]:
    """Return a product as a save would store it, its variants whose prices change, and the refusals."""
    refusals = list(list_refusals(product, now))
    saved = _with_what_was_there(product, queries.product_from_rows(rows, now), now)
    if len(saved.variants) > MAX_VARIANT_ROWS:
        text = _("A product can have at most %(most)d variants, including those no longer sold.")
        refusals.append(ProductRefused(text % {"most": MAX_VARIANT_ROWS}, "variants"))
    existing = queries.list_existing_categories(saved.all_category_ids)
    for category_id in saved.all_category_ids:
        if category_id not in existing:
            field = "category_id" if category_id == saved.category_id else "category_ids"
            refusals.append(ProductRefused(_("This category no longer exists."), field))
    # Refused prices cannot be compared with former ones. A refusal without a variant means that the currencies of the variants
    # differ.
    unpriced = {each.variant_id for each in refusals if each.field in _PRICES}
    if None in unpriced:
        return saved, [], refusals
    priced = [each for each in saved.variants if each.variant_id not in unpriced]
    repriced = find_repriced(priced, rows)
    sold = [each for each in repriced if each.sold]
    refusals += list_refused_reductions(sold, saved, rows, now)
    return saved, repriced, refusals


def save_variant(product_id: UUID, variant: Variant, seen: str, now: datetime) -> Product:
    """Change one variant of a product and return the product. Other changes of the product are kept.

    `seen` is the `fingerprint_variant` that the editor has read; if the variant has changed since, nothing is written. Raises
    ProductChanged and all errors of `save_product`.
    """

    def change(product: Product) -> Product:
        stored = product.get_variant(variant.variant_id)
        if stored is None or fingerprint_variant(stored) != seen:
            raise ProductChanged(product)
        variants = tuple(
            replace(variant, position=each.position)
            if each.variant_id == variant.variant_id
            else each
            for each in product.variants
        )
        return replace(product, variants=variants)

    return change_product(product_id, change, now)


def save_pictures(
    product_id: UUID,
    pictures: Sequence[ProductPicture],
    shown: Collection[str],
    seen: str,
    now: datetime,
) -> Product:
    """Change the pictures of a product and return the product. Other changes of the product are kept.

    `shown` are the pictures that the editor has read, and `seen` is their `fingerprint_pictures`; if they have changed since,
    nothing is written. Pictures that were added since stay behind the others. Raises ProductChanged and all errors of
    `save_product`.
    """

    def change(product: Product) -> Product:
        known = [each for each in product.pictures if each.picture in shown]
        if fingerprint_pictures(known) != seen:
            raise ProductChanged(product)
        added = [each for each in product.pictures if each.picture not in shown]
        return product.with_pictures([*pictures, *added])

    return change_product(product_id, change, now)


def add_picture(product_id: UUID, picture: str, now: datetime) -> Product:
    """Put a picture behind the product's other pictures, without a confirmed alt text; return the product.

    A picture that the product already has is not added again. Raises ProductChanged and all errors of `save_product`.
    """

    def change(product: Product) -> Product:
        if any(each.picture == picture for each in product.pictures):
            return product
        return product.with_pictures([*product.pictures, ProductPicture(picture, "")])

    return change_product(product_id, change, now)


def put_picture_back(
    product_id: UUID,
    picture: ProductPicture,
    place: int,
    variant_ids: Collection[UUID],
    now: datetime,
) -> Product:
    """Put a removed picture back at `place`; return the product.

    These variants show it again, unless they have another picture now. Raises ProductChanged and all errors of `save_product`.
    """

    def change(product: Product) -> Product:
        others = [each for each in product.pictures if each.picture != picture.picture]
        variants = tuple(
            replace(each, picture=picture.picture)
            if each.variant_id in variant_ids and not each.picture
            else each
            for each in product.variants
        )
        pictures = (*others[:place], picture, *others[place:])
        return replace(product, pictures=pictures, variants=variants)

    return change_product(product_id, change, now)


def change_product(
    product_id: UUID,
    change: Callable[[Product], Product],
    now: datetime,
    save_id: UUID | None = None,
) -> Product:
    """Apply `change` to the current product, and save and return the product. Try again if somebody else was faster.

    If `change` returns the same object, nothing is written. `change` raises ProductChanged if the product is not what the editor has read. Raises ProductChanged and all errors of
    `save_product`.
    """
    changed = ProductChanged(None)
    for _try in range(MAX_ATTEMPTS):
        product = queries.get_product_at_quorum(product_id)
        if product is None:
            raise ProductChanged(None)
        wanted = change(product)
        if wanted is product:
            return product
        try:
            return save_product(wanted, now, save_id=save_id)
        except ProductChanged as newer:
            changed = newer
    raise changed


def change_product_status(product: Product, status: str, now: datetime) -> Product:
    """Save a product that was read with another status: draft, active or archived. Raises all errors of `save_product`."""
    return save_product(replace(product, status=status), now)


def duplicate_product(product: Product, now: datetime) -> Product:
    """Save a draft copy of a product, with new ids, a new address and new SKUs; return the copy.

    The copy has no crossed-out prices, because it was never sold, and no barcodes and part numbers, because each belongs to one article.
    Raises all errors of `save_product`.
    """
    product_id = uuid4()
    code = product_id.hex[:6]
    variants = [each for each in product.variants if each.sold] or product.variants
    copy = replace(
        product,
        product_id=product_id,
        version=0,
        name=_("%(name)s (copy)") % {"name": product.name[:190]},
        slug=f"{product.slug[:90].rstrip('-')}-{code}",
        status="draft",
        active_from=None,
        active_until=None,
        featured=False,
        successor_id=None,
        old_addresses="",
        created_at=None,
        variants=tuple(
            replace(
                each,
                variant_id=uuid4(),
                sku=f"{each.sku[:50].rstrip(' -._/+#')}-{code.upper()}-{number}",
                compare_at=None,
                planned=(),
                barcode="",
                mpn="",
            )
            for number, each in enumerate(variants, start=1)
        ),
    )
    return save_product(copy, now)


def _with_what_was_there(product: Product, before: Product | None, now: datetime) -> Product:
    """Return a product as a save stores it: with its next version, and with missing variants as no longer sold.

    The begin of an unchanged price stays, unless the product or variant was not on sale, or the begin of the sale changes.
    """
    is_continued = before is not None and _sale(before, now) == _sale(product, now)
    known = {each.variant_id: each for each in before.variants} if before and is_continued else {}
    kept = (
        *(
            follow_base_price(
                replace(variant, position=i, price_from=_price_from(variant, known, now))
            )
            for i, variant in enumerate(product.variants)
        ),
        *_left_out_variants(product, before),
    )
    return replace(
        product,
        variants=kept,
        version=product.version + 1,
        created_at=product.created_at or (before.created_at if before else now),
        updated_at=now,
        availability=before.availability if before else "out",
        in_stock_ids=before.in_stock_ids if before else frozenset(),
        rating=before.rating if before else None,
        rating_count=before.rating_count if before else 0,
        popularity=before.popularity if before else None,
        bestseller=before is not None and before.bestseller,
    )


def _with_moments_as_stored(product: Product) -> Product:
    """Return a product whose moments are cut to milliseconds, as Cassandra stores moments."""
    start, end = product.active_from, product.active_until
    variants = (
        replace(
            variant,
            planned=tuple(
                replace(
                    each,
                    starts_at=truncate_to_milliseconds(each.starts_at),
                    # Has to equal the stored begin of the sale.
                    back_to=truncate_to_milliseconds(each.back_to) if each.back_to else None,
                )
                for each in variant.planned
            ),
        )
        for variant in product.variants
    )
    return replace(
        product,
        active_from=truncate_to_milliseconds(start) if start else None,
        active_until=truncate_to_milliseconds(end) if end else None,
        variants=tuple(variants),
    )


def _sale(product: Product, now: datetime) -> tuple[object, ...]:
    """Return the values that decide from when on shoppers have been asked a product's prices. A future end of the sale is left out."""
    end = product.active_until
    return product.status, product.active_from, end if end and end <= now else None


def _price_from(variant: Variant, known: Mapping[UUID, Variant], now: datetime) -> datetime:
    def asked(each: Variant) -> tuple[object, ...]:
        return each.price, each.compare_at, each.sold

    was = known.get(variant.variant_id)
    return was.price_from or now if was and asked(was) == asked(variant) else now


def _apply_save(
    saved: Product, rows: Sequence[Row], bulk_change_id: UUID | None, save_id: UUID
) -> bool:
    """Write the differences between a product and these rows in one conditional batch; return False if another save was faster.

    A product always fits into one batch, whose limit is half a commit log segment (decision 035). So nobody sees a half-saved
    product.
    """
    stored = {row.variant_id: row for row in rows}
    head = UPDATE_PRODUCT.bind(
        **product_columns(saved), save_id=save_id, seen=rows[0].version if rows else None
    )
    changed = [
        INSERT_VARIANT.bind(product_id=saved.product_id, **columns)
        for columns in map(variant_columns, saved.variants)
        if not is_stored(stored.get(columns["variant_id"]), columns)
    ]
    if bulk_change_id:
        mark = MARK_BULK_CHANGE.bind(
            product_id=saved.product_id, change_ids={bulk_change_id}, seconds=BULK_CHANGE_TTL
        )
        changed.append(mark)
    outcome = apply_batch(
        head, *changed, if_lost=applied_if(lambda row: bool(row.save_id == save_id))
    )
    return bool(outcome)


def _left_out_variants(product: Product, before: Product | None) -> Iterator[Variant]:
    present = {variant.variant_id for variant in product.variants}
    for position, variant in enumerate(
        before.variants if before else (), start=len(product.variants)
    ):
        if variant.variant_id not in present:
            yield replace(variant, sold=False, position=position, planned=())


def set_availability(
    product_id: UUID, availability: str, in_stock_ids: Collection[UUID], *, on_cards: bool = True
) -> None:
    """Set a product's availability (`in` stock, `few` left, sold `ahead` as a backorder, or `out`), and its variants in stock.

    The cards show only the availability: `on_cards` is False if it stays. Raises ValueError for another value. Also raises
    CassandraUnavailable.
    """
    if availability not in AVAILABILITIES:
        raise ValueError(f"{availability!r} is none of {AVAILABILITIES}")
    record_product_change(product_id, current_time())
    UPDATE_AVAILABILITY.run(
        product_id=product_id, word=availability, in_stock_ids=set(in_stock_ids)
    )
    if on_cards:
        refresh_cards(product_id)
    record_product_change(product_id, current_time())


def set_rating(product_id: UUID, rating: float | None, rating_count: int, at: int) -> None:
    """Set a product's rating and number of reviews, on every card: None and 0 for a product without a review.

    `at` is when the reviews were counted, in microseconds since 1970. Raises CassandraUnavailable.
    """
    record_product_change(product_id, current_time())
    UPDATE_RATING.run(product_id=product_id, rating=rating, rating_count=rating_count, at=at)
    refresh_cards(product_id)
    record_product_change(product_id, current_time())


def set_popularity(product_id: UUID, popularity: int, at: int, *, is_bestseller: bool) -> None:
    """Set how popular a product is, on every card and in every list that is sorted by popularity.

    `popularity` is a coarse level from 0 on. `at` is when visits were counted, in microseconds since 1970. Raises
    CassandraUnavailable.
    """
    product = queries.get_product_at_quorum(product_id)
    on_cards = (product.popularity or 0, product.bestseller) if product else None
    values = {"popularity": popularity, "bestseller": is_bestseller, "at": at}
    if on_cards == (popularity, is_bestseller):
        # Cards show 0 before the first count, too. So only the places in the lists change, and no other copy.
        refresh_cards(product_id)
        UPDATE_POPULARITY.run(product_id=product_id, **values)
        return
    record_product_change(product_id, current_time())
    UPDATE_POPULARITY.run(product_id=product_id, **values)
    refresh_cards(product_id)
    record_product_change(product_id, current_time())
