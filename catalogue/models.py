"""The catalogue's tables: products, the lists that show them, and the indexes that find them."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB
from jobs.models import BULK_CHANGE_TTL, BulkChangeColumns, BulkChangeRowColumns

# Read often, written seldom: levelled compaction keeps a read to one or two files.
READ_MOSTLY = {"compaction": {"class": "UnifiedCompactionStrategy", "scaling_parameters": "L4"}}


class CardColumns(Model):
    """The columns of a product's card, the same in every list. catalogue.operations alone writes them."""

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
    save_id = columns.UUID(static=True)  # the save that made this version, to recognise itself
    # the bulk changes of the last 90 days; the save itself adds its own
    bulk_change_ids = columns.Set(columns.TimeUUID, static=True)
    category_ids = columns.Set(columns.UUID, static=True)  # further ones, besides category_id
    tags = columns.Set(columns.Text, static=True)
    maker = columns.Text(static=True)
    safety = columns.Text(static=True)
    length_mm = columns.Integer(static=True)
    width_mm = columns.Integer(static=True)
    height_mm = columns.Integer(static=True)
    search_title = columns.Text(static=True)
    search_description = columns.Text(static=True)
    related_ids = columns.List(columns.UUID, static=True)  # pinned, in this order
    # JSON: [[picture, alt text], …] in the order to show; variants name their own picture
    pictures = columns.Text(static=True)
    successor_id = columns.UUID(static=True)  # the product that its page offers once it is gone
    featured = columns.Boolean(static=True)
    availability = columns.Text(static=True)  # in, few, ahead, out
    rating = columns.Float(static=True)  # the average, to one decimal; null without a review
    rating_count = columns.Integer(static=True)
    popularity = columns.Integer(static=True)  # a coarse step; null until first computed
    bestseller = columns.Boolean(static=True)
    created_at = columns.DateTime(static=True)
    updated_at = columns.DateTime(static=True)
    sku = columns.Text()
    position = columns.Integer()
    options = columns.Map(columns.Text, columns.Text)
    price = columns.BigInt()
    compare_at = columns.BigInt()
    price_from = columns.DateTime()  # when the price began
    planned_prices = columns.Text()  # JSON: [[from when, price, compare_at], …], earliest first
    picture = columns.Text()
    weight_grams = columns.Integer()
    barcode = columns.Text()  # a GTIN
    sold = columns.Boolean()  # False: no longer sold; carts and orders may still name the row


class PriceHistory(Model):
    """Q1: a variant's prices and when each began. They decide which price may be crossed out (decision 036).

    A price is copied here from the product's row once it has begun, so that the row may be overwritten.
    Bound: a row a price change, some 50 bytes; 200 are read.
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
    """Q1: the product of an address. Old slugs stay and redirect to the new one (301).

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
    """Q1: the variant of a SKU.

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

    A removed category's row stays, because its addresses redirect (decision 037).
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
    save_id = columns.UUID(static=True)  # the save that made this version, to recognise itself
    slug = columns.Text()
    name = columns.Text()
    parent_id = columns.UUID()
    position = columns.Integer()
    description = columns.Text()
    picture = columns.Text()
    picture_alt = columns.Text()  # a drawing may do without
    former_slugs = columns.List(columns.Text)  # the last ones; they redirect to the present slug
    changed_at = columns.DateTime()  # renamed, moved or reordered; null once products have followed
    followed_to = columns.Text()  # how far products have followed, in the category's list
    list_rule = columns.Text()  # the order of its products; null: newest first
    pinned_ids = columns.List(columns.UUID)  # the products that come first
    has_featured_list = columns.Boolean()  # the list with the pinned products is complete
    is_repinned = columns.Boolean()  # only the pins have changed since changed_at
    removed = columns.Boolean()


class ProductByCategory(CardColumns):
    """Q2: a category's products in one order. A product is in its categories and in all above them.

    The order is in the partition key. Bytes of `sort_key` sort as the values do; a reverse read gives the descending order.
    Bound: 400,000 products stay under 100 MB a partition.
    Writer: catalogue.operations.refresh_cards.
    """

    __table_name__ = "products_by_category"
    __partition_bytes__ = 100 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    category_id = columns.UUID(partition_key=True)
    # created, price, name, rating, popular; featured, if products are pinned
    sort = columns.Text(partition_key=True)
    sort_key = columns.Blob(primary_key=True)
    product_id = columns.UUID(primary_key=True)


class ListPosition(Model):
    """The places of a product's cards. Outdated cards are deleted by these keys, which need no recomputing.

    A place is written before its card and deleted after it. So every card has its place here, even after a crash or with two
    saves at once.
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
    """Q4: the rows of the front page: featured, deals, new_arrivals, popular. Pinned products come first.

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
    """Q4: the products that staff pinned to the start of a front page row, in this order; a rule chooses the others.

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
    save_id = columns.UUID()  # the save that made this version, to recognise itself
    changed_at = columns.DateTime()


class RelatedProduct(CardColumns):
    """Q5: a product's related products: pinned ones, then those bought together with it, then those that share a category or tag.

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

    Bound: 50 products a prefix (catalogue.operations.suggestions.MAX_PRODUCTS_A_PREFIX).
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
    """Q3: which products have changed; cards, suggestions and the search index follow these rows.

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
    """Bulk changes of products, by the month of their start, newest first.

    `unfinished` names the changes that the worker has not finished; the batch that ends a change updates it.
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
    """The products of a bulk change in their order, each with its result.

    They are written before their change, under a random id. Rows without a change expire with their TTL.
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
    version = columns.Integer()  # the version that the save makes, noted before it
    former = columns.Text()  # JSON: the values before the save


# For how long staff see the result of an upload and can use it.
UPLOAD_TTL = 7 * 24 * 3600


class PictureUpload(Model):
    """Q1: the uploaded files of a product, a category or a review, each with its result.

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
    # The owner of the picture: a product, a category or a review (reviews.pictures); their ids never collide.
    product_id = columns.UUID(partition_key=True)
    upload_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    file_name = columns.Text()  # on the sender's machine
    incoming = columns.Text()  # the raw file's name in the storage
    state = columns.Text()  # waiting, ready, refused
    tries = columns.Integer()  # how often a worker has begun to decode it
    picture = columns.Text()  # when it is ready
    reason = columns.Text()  # when it is refused, in words
    salt = columns.Text()  # of a shopper's upload: its files are its own, and can be deleted


class WaitingUpload(Model):
    """The uploads that the worker has to decode, by the day of the upload. Written before the upload itself.

    Bound: a day's uploads until they are decoded, 40 bytes each; deleted with the upload.
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
    """Q3: the products whose lists have to change in a minute, because a sale or a price begins or ends.

    Written before the product is saved, and deleted when the lists have followed. A row too many does no harm.
    A save that changes a price also notes the minute after the next: that job writes the price history if the save was cut off.
    Bound: a row a product that changes in this minute, 40 bytes each.
    Writer: catalogue.operations.save_product.
    """

    __table_name__ = "product_schedule_by_minute"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    product_id = columns.UUID(primary_key=True)
