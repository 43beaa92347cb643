"""The catalogue's tables: products, the lists they are in, and what finds them."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB
from jobs.models import BULK_CHANGE_TTL, BulkChangeColumns, BulkChangeRowColumns

# Read often, written seldom: levelled compaction keeps a read to one or two files.
READ_MOSTLY = {"compaction": {"class": "UnifiedCompactionStrategy", "scaling_parameters": "L4"}}


class CardColumns(Model):
    """The columns that a product's card shows, in whichever list. Written by catalogue.operations alone."""

    __abstract__ = True
    name = columns.Text()
    slug = columns.Text()
    brand = columns.Text()
    picture = columns.Text()
    swatches = columns.List(columns.Text)
    variant_count = columns.Integer()
    price = columns.BigInt()
    price_varies = columns.Boolean()
    compare_at = columns.BigInt()
    currency = columns.Text()
    rating = columns.Float()
    rating_count = columns.Integer()
    popularity = columns.Integer()
    bestseller = columns.Boolean()
    availability = columns.Text()
    created_at = columns.DateTime()


class Product(Model):
    """Q1: a product with its variants. The product's columns are static, a row is a variant.

    Bound: 200 variants that are sold and 1,000 rows a product (catalogue.rules), some 500 KB at worst.
    Writer: catalogue.operations.save_product, in one conditional batch on `version`; only `availability`, `rating`, `rating_count`,
    `popularity` and `bestseller` are written plainly, by set_availability, set_rating and set_popularity (decisions 013, 035, 065).
    """

    __table_name__ = "products"
    __partition_bytes__ = 500 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    variant_id = columns.UUID(primary_key=True)
    name = columns.Text(static=True)
    slug = columns.Text(static=True)
    brand = columns.Text(static=True)
    description = columns.Text(static=True)
    details = columns.Text(static=True)  # JSON: label -> text, in the order to show
    category_id = columns.UUID(static=True)
    option_names = columns.List(columns.Text, static=True)
    tax_class = columns.Text(static=True)
    currency = columns.Text(static=True)
    status = columns.Text(static=True)  # draft, active, archived
    active_from = columns.DateTime(static=True)
    active_until = columns.DateTime(static=True)
    version = columns.Integer(static=True)  # how often it was saved; null before it counted
    save_id = columns.UUID(static=True)  # the save that made the version, which knows itself by it
    # the bulk changes that were made to it in the last 90 days, each written by the very save
    bulk_change_ids = columns.Set(columns.TimeUUID, static=True)
    category_ids = columns.Set(columns.UUID, static=True)  # the others besides category_id
    tags = columns.Set(columns.Text, static=True)
    maker = columns.Text(static=True)
    safety = columns.Text(static=True)
    length_mm = columns.Integer(static=True)
    width_mm = columns.Integer(static=True)
    height_mm = columns.Integer(static=True)
    search_title = columns.Text(static=True)
    search_description = columns.Text(static=True)
    related_ids = columns.List(columns.UUID, static=True)  # pinned, in this order
    # JSON: [[picture, what it shows], …] in the order to show; variants name theirs themselves
    pictures = columns.Text(static=True)
    successor_id = columns.UUID(static=True)  # the product that its page offers when it has gone
    featured = columns.Boolean(static=True)
    availability = columns.Text(static=True)  # in, few, out: what the cards say
    rating = columns.Float(static=True)  # as the cards say it; null without a review
    rating_count = columns.Integer(static=True)
    popularity = columns.Integer(static=True)  # a coarse step; null until it is counted first
    bestseller = columns.Boolean(static=True)
    created_at = columns.DateTime(static=True)
    updated_at = columns.DateTime(static=True)
    sku = columns.Text()
    position = columns.Integer()
    options = columns.Map(columns.Text, columns.Text)
    price = columns.BigInt()
    compare_at = columns.BigInt()
    price_from = columns.DateTime()  # since when the price is asked
    planned_prices = (
        columns.Text()
    )  # JSON: [[from when, price, compare_at], …] in the order of time
    picture = columns.Text()
    weight_grams = columns.Integer()
    barcode = columns.Text()  # a GTIN
    sold = (
        columns.Boolean()
    )  # False: no longer sold; the row stays for carts and orders that name it


class PriceHistory(Model):
    """Q1: what was asked for a variant, and since when: from it follows what may be crossed out (decision 036).

    What a product's row says of its prices is copied here when it has begun, so that it may be overwritten there.
    Bound: a row a change of the price, some 50 bytes; 200 are read.
    Writer: catalogue.operations.record_prices.
    """

    __table_name__ = "price_history"
    __partition_bytes__ = 1 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    variant_id = columns.UUID(partition_key=True)
    starts_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    price = columns.BigInt()
    compare_at = columns.BigInt()
    currency = columns.Text()


class ProductIdBySlug(Model):
    """Q1: which product an address belongs to. Old slugs stay and lead to the new one by 301.

    Bound: one row a partition.
    Writer: catalogue.operations.save_product, claimed by IF NOT EXISTS.
    """

    __table_name__ = "product_ids_by_slug"
    __partition_bytes__ = 1 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    slug = columns.Text(partition_key=True)
    product_id = columns.UUID()


class VariantBySku(Model):
    """Q1: which variant a SKU names.

    Bound: one row a partition.
    Writer: catalogue.operations.save_product, claimed by IF NOT EXISTS.
    """

    __table_name__ = "variants_by_sku"
    __partition_bytes__ = 1 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    sku = columns.Text(partition_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()


class Category(Model):
    """Q2: the tree of categories, three levels deep.

    A removed category's row stays, for its addresses lead on (decision 037).
    Bound: one partition a tree, 2,000 categories and 4,000 rows (catalogue.operations.categories), 300 bytes each; 2 KB at worst,
    some 500 bytes more with a picture that is described at length, and 2 KB more with 48 pinned products.
    Writer: catalogue.operations.save_category and its neighbours, in one conditional batch on `version`.
    """

    __table_name__ = "categories"
    __partition_bytes__ = 20 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    tree = columns.Text(partition_key=True)
    category_id = columns.UUID(primary_key=True)
    version = columns.Integer(static=True)  # how often the tree was changed; null before it counted
    save_id = columns.UUID(
        static=True
    )  # the change that made the version, which knows itself by it
    slug = columns.Text()
    name = columns.Text()
    parent_id = columns.UUID()
    position = columns.Integer()
    description = columns.Text()
    picture = columns.Text()
    picture_alt = columns.Text()  # what it shows, in words; a drawing may do without
    former_slugs = columns.List(columns.Text)  # the last ones; they lead to the present address
    changed_at = columns.DateTime()  # renamed or moved, and the worker has not followed to the end
    followed_to = columns.Text()  # how far it has come in the category's list
    list_rule = columns.Text()  # in which order its products are shown; null: the newest first
    pinned_ids = columns.List(columns.UUID)  # the products that stand before all others
    has_featured_list = columns.Boolean()  # the list that begins with them is written to its end
    is_repinned = columns.Boolean()  # since changed_at nothing else has changed
    removed = columns.Boolean()


class ProductByCategory(CardColumns):
    """Q2: a category's products in one order; a product is in its category and in every ancestor.

    The sort is in the partition key; the sort key keeps its order as bytes, and descending is the reverse read.
    Bound: 400,000 products stay under 100 MB a partition.
    Writer: catalogue.operations.refresh_cards.
    """

    __table_name__ = "products_by_category"
    __partition_bytes__ = 100 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    category_id = columns.UUID(partition_key=True)
    # created, price, name, rating, popular; featured, if anything is pinned
    sort = columns.Text(partition_key=True)
    sort_key = columns.Blob(primary_key=True)
    product_id = columns.UUID(primary_key=True)


class ListPosition(Model):
    """The places of a product's cards, so that old cards are deleted by keys that were read, not computed again.

    A position is written before its card and removed after it: every card anywhere has its position here, also after a
    crash and when two people save at once.
    Bound: a row a category and sort: about 15, 300 for a product in 20 categories, a fifth more where products are pinned, and
    for a moment twice that.
    Writer: catalogue.operations.refresh_cards.
    """

    __table_name__ = "list_positions_by_product"
    __partition_bytes__ = 100 * KB
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    category_id = columns.UUID(primary_key=True)
    sort = columns.Text(primary_key=True)
    sort_key = columns.Blob(primary_key=True)


class FeaturedProduct(CardColumns):
    """Q4: the front page's rows: featured, deals, new_arrivals, popular. What is pinned stands first.

    Bound: 24 cards a row (catalogue.operations.featured.FEATURED_LENGTH).
    Writer: catalogue.operations.rebuild_featured.
    """

    __table_name__ = "featured_products"
    __partition_bytes__ = 50 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    feature_type = columns.Text(partition_key=True)
    position = columns.Integer(primary_key=True)
    product_id = columns.UUID()


class FrontPagePins(Model):
    """Q4: which products stand first in a row of the front page, in this order; the others are chosen by a rule.

    Bound: one row a partition, 24 ids (catalogue.operations.featured.FEATURED_LENGTH).
    Writer: catalogue.operations.pin_on_front_page, by a conditional write on `version`.
    """

    __table_name__ = "front_page_pins"
    __partition_bytes__ = 2 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    feature_type = columns.Text(partition_key=True)
    product_ids = columns.List(columns.UUID)
    version = columns.Integer()
    save_id = columns.UUID()  # the change that made the version, which knows itself by it
    changed_at = columns.DateTime()


class RelatedProduct(CardColumns):
    """Q5: what shares a category or a tag with a product, first what was bought together with it; before all what staff have pinned.

    Bound: 12 cards a product (catalogue.operations.RELATED_LENGTH).
    Writer: catalogue.operations.rebuild_related.
    """

    __table_name__ = "related_products"
    __partition_bytes__ = 50 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    rank = columns.Integer(primary_key=True)
    related_id = columns.UUID()
    pinned = columns.Boolean()


class ProductByNamePrefix(Model):
    """Q3: suggestions for a prefix of 2 to 8 letters of any word of a name, the best first.

    Bound: 50 products a prefix (catalogue.operations.suggestions.PREFIX_LENGTH).
    Writer: catalogue.operations.rebuild_prefixes.
    """

    __table_name__ = "products_by_name_prefix"
    __partition_bytes__ = 50 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    prefix = columns.Text(partition_key=True)
    rank = columns.Integer(primary_key=True)
    product_id = columns.UUID(primary_key=True)
    name = columns.Text()
    slug = columns.Text()
    picture = columns.Text()
    price = columns.BigInt()
    price_varies = columns.Boolean()
    currency = columns.Text()
    category_name = columns.Text()


class ProductChange(Model):
    """Q3: which products have changed, for what is derived from them: cards, prefixes, the search index.

    Bound: a day of changes over 8 shards; rows vanish after a week.
    Writer: catalogue.operations.record_product_change.
    """

    __table_name__ = "product_changes"
    __partition_bytes__ = 10 * MB
    __options__ = {"default_time_to_live": 7 * 24 * 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    shard = columns.Integer(partition_key=True)
    changed = columns.TimeUUID(primary_key=True)
    product_id = columns.UUID()


class BulkChange(BulkChangeColumns):
    """Changes of many products at once, by the month in which they were started, the newest first.

    `unfinished` has those that the worker is not through with, changed in the same conditional batch as the change itself.
    Bound: 2,000 a month are 1 MB; 100 are read. They vanish after 90 days.
    Writer: catalogue.bulk_changes, by conditional writes alone.
    """

    __table_name__ = "bulk_changes"
    __partition_bytes__ = 1 * MB
    __former_columns__ = ("undoes",)
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = {
        "columns": ("started_by",),
        "on_erase": "expires",
        "why": "who changed prices has to be known for as long as it can be undone",
    }


class BulkChangeRow(BulkChangeRowColumns):
    """The products of a bulk change in their order, and what became of each.

    They are written before the change that names them, under a random id: rows that no change names vanish with their TTL.
    Bound: 500 rows a bucket, 20 buckets a change; some 200 bytes a row, 30 KB with the former prices of 200 variants.
    Writer: catalogue.bulk_changes, by conditional writes alone.
    """

    __table_name__ = "bulk_change_rows"
    __partition_bytes__ = 15 * MB
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = None
    product_id = columns.UUID()
    restore = columns.Text()  # JSON: what an undo puts back
    expected = columns.Integer()  # the version that an undo is for
    version = (
        columns.Integer()
    )  # of the product as the change would make it, noted before it is saved
    former = columns.Text()  # JSON: what it was before that


# How long staff see the result of an upload, and can still use it.
UPLOAD_TTL = 7 * 24 * 3600


class PictureUpload(Model):
    """Q1: the files that were uploaded for a product, a category or a review, and what became of each.

    Bound: they vanish after a week; some 500 bytes each, 100 are read.
    Writer: catalogue.operations.picture_uploads, by conditional writes alone.
    """

    __table_name__ = "picture_uploads"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": UPLOAD_TTL}
    __personal_data__ = {
        "columns": ("file_name",),
        "on_erase": "expires",
        "why": "what a shopper's file was called, until its picture stands with the review or the week is over",
    }
    # Whose picture it is to be: a product's, a category's, or a review's (reviews.pictures), whose ids are never those of products.
    # The name is older than theirs.
    product_id = columns.UUID(partition_key=True)
    upload_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    file_name = columns.Text()  # on the sender's machine
    incoming = columns.Text()  # the raw file's name in the storage
    state = columns.Text()  # waiting, ready, refused
    tries = columns.Integer()  # how often a worker has begun to decode it
    picture = columns.Text()  # of one that is ready
    reason = columns.Text()  # of a refusal, in words
    salt = columns.Text()  # of a shopper's: its files are of this upload alone, and can be deleted


class WaitingUpload(Model):
    """Which uploads the worker has to decode, by the day on which they came. Written before the upload itself.

    Bound: the uploads of a day that are not decoded yet, 40 bytes each; gone with the upload itself.
    Writer: catalogue.operations.picture_uploads.
    """

    __table_name__ = "waiting_uploads_by_day"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": UPLOAD_TTL, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    upload_id = columns.TimeUUID(primary_key=True)
    product_id = columns.UUID()  # as in picture_uploads


class ProductSchedule(Model):
    """Q3: whose lists have to follow in a minute, since a product comes or goes, or its price changes.

    Written before the product is saved, and removed when the lists have followed. A row that no product means is no harm.
    A save that changes a price notes the minute after the next, too: its history is written then, if the save has stopped before.
    Bound: a row a product that changes in this minute, 40 bytes each.
    Writer: catalogue.operations.save_product.
    """

    __table_name__ = "product_schedule_by_minute"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    product_id = columns.UUID(primary_key=True)
