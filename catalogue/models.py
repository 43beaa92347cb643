"""The catalogue's tables: products, the lists that show them, and the indexes that find them."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB
from jobs.models import BULK_CHANGE_TTL, BulkChangeColumns, BulkChangeRowColumns

# Read often, written seldom: levelled compaction keeps a read to one or two files.
READ_MOSTLY = {"compaction": {"class": "UnifiedCompactionStrategy", "scaling_parameters": "L4"}}


class CardColumns(Model):
    """The columns of a product's card, which are the same in every list. Only catalogue.operations writes them."""

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
    unit_price = columns.BigInt()  # of the amount that catalogue.unit_prices has for the unit
    unit = columns.Text()
    created_at = columns.DateTime()


class Product(Model):
    """Q1: a product with its variants. The product's columns are static; each row is a variant.

    Bound: 200 variants that are sold and 1,000 rows a product (catalogue.rules), some 500 KB at most.
    Writer: catalogue.operations.save_product, in one conditional batch on `version`; `availability`, `in_stock_ids`, `rating`,
    `rating_count`, `popularity`, `bestseller` and `list_places` are written without a condition, by set_availability, set_rating,
    set_popularity and refresh_cards (decisions 013, 035, 065, 123).
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
    details = columns.Text(static=True)  # JSON: label -> text, sorted as the page shows them
    category_id = columns.UUID(static=True)
    option_names = columns.List(columns.Text, static=True)
    tax_class = columns.Text(static=True)
    currency = columns.Text(static=True)
    status = columns.Text(static=True)  # draft, active, archived
    active_from = columns.DateTime(static=True)
    active_until = columns.DateTime(static=True)
    version = columns.Integer(static=True)  # how often it was saved; null before versions existed
    save_id = columns.UUID(static=True)  # the save that made this version
    # The ids of the bulk changes of the last 90 days. A save adds the id of its own bulk change.
    bulk_change_ids = columns.Set(columns.TimeUUID, static=True)
    category_ids = columns.Set(columns.UUID, static=True)  # further categories, besides category_id
    tags = columns.Set(columns.Text, static=True)
    maker = columns.Text(static=True)
    maker_contact = columns.Text(static=True)
    responsible_person = columns.Text(static=True)
    unit = columns.Text(static=True)  # of the variants' content; null for no unit price
    safety = columns.Text(static=True)
    length_mm = columns.Integer(static=True)
    width_mm = columns.Integer(static=True)
    height_mm = columns.Integer(static=True)
    search_title = columns.Text(static=True)
    search_description = columns.Text(static=True)
    google_category = columns.Text(static=True)
    old_addresses = columns.Text(static=True)  # in a former shop, one per line
    related_ids = columns.List(columns.UUID, static=True)  # the pinned related products, in order
    # JSON: [[picture, alt text], …], sorted as the page shows them. Variants name their own picture.
    pictures = columns.Text(static=True)
    successor_id = columns.UUID(static=True)  # offered on its page once the product is gone
    featured = columns.Boolean(static=True)
    availability = columns.Text(static=True)  # in, few, ahead, out
    in_stock_ids = columns.Set(columns.UUID, static=True)  # the variants that can be bought
    rating = columns.Float(static=True)  # the average, to one decimal; null without a review
    rating_count = columns.Integer(static=True)
    popularity = columns.Integer(static=True)  # a coarse level; null until first computed
    bestseller = columns.Boolean(static=True)
    # Outdated cards are deleted by these keys, which need not be computed again. A place is added before its card is written, and
    # removed after the card is deleted. If two saves meet and one is killed, a card may stay without a place: I14 finds it.
    # places of its cards: category, sort order and sort key; some 15, or 300 for a product in 20 categories
    list_places = columns.Set(columns.Tuple(columns.UUID, columns.Text, columns.Blob), static=True)
    created_at = columns.DateTime(static=True)
    updated_at = columns.DateTime(static=True)
    sku = columns.Text()
    position = columns.Integer()
    options = columns.Map(columns.Text, columns.Text)
    price = columns.BigInt()
    compare_at = columns.BigInt()
    price_from = columns.DateTime()  # when the price began
    planned_prices = columns.Text()  # JSON: [[begin, price, compare_at], …], earliest first
    picture = columns.Text()
    weight_grams = columns.Integer()
    barcode = columns.Text()  # a GTIN
    mpn = columns.Text()  # the manufacturer's part number
    content = columns.Decimal()  # in the product's unit; null: unknown
    cost_price = columns.BigInt()  # without tax; null: unknown. Only staff see it.
    sold = columns.Boolean()  # False: no longer sold; carts and orders may still name the row


class PriceHistory(Model):
    """Q1: a variant's former prices, each with the time at which it began. They decide which price may be crossed out (decision 036).

    A save copies the prices that have begun from the variant's row before it overwrites them. The present price is in the row alone.
    Bound: a row for each price change, some 50 bytes; 200 rows are read.
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
    """Q1: the product of an address: of its slug, or of its path in a former shop, which begins with a slash.

    Old slugs stay. Both redirect (301) to the present slug.
    Bound: one row a partition.
    Writer: catalogue.operations.save_product, claimed by IF NOT EXISTS.
    """

    __table_name__ = "product_ids_by_slug"
    __partition_bytes__ = 1 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    slug = columns.Text(partition_key=True)
    product_id = columns.UUID()


class Redirect(Model):
    """Q31: where the path of a page in a former shop leads, as staff entered it. In shards, so that staff can list them by path.

    Products have old addresses of their own (ProductIdBySlug).
    Bound: 2,000 redirects a shard (catalogue.operations.redirects), some 150 bytes each.
    Writer: catalogue.operations.redirects.
    """

    __table_name__ = "redirects"
    __partition_bytes__ = 2 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    shard = columns.Integer(partition_key=True)  # of the path, 0 to 31
    path = columns.Text(primary_key=True)  # as catalogue.old_addresses.normalize_path returns it
    target = columns.Text()  # of catalogue.menu_links: a path, a page's name, a category's id


# For how long staff see an address that was not found.
MISSING_TTL = 14 * 24 * 3600


class MissingAddress(Model):
    """Q31: samples of the requests of a day for paths that lead nowhere, the latest first.

    Bound: a row in five seconds for each process, some 60 bytes: twenty processes are 20 MB. 2,000 are read. Rows vanish after 14 days.
    Writer: catalogue.missing_addresses.
    """

    __table_name__ = "missing_addresses"
    __partition_bytes__ = 20 * MB
    __options__ = {"default_time_to_live": MISSING_TTL}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    sample_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    path = columns.Text()


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
    Bound: one partition a tree, 2,000 categories and 4,000 rows (catalogue.operations.categories), 300 bytes each. A row has at
    most 2 KB, some 500 bytes more with a long description of the picture, and 2 KB more with 48 pinned products.
    Writer: catalogue.operations.categories, in one conditional batch on `version`.
    """

    __table_name__ = "categories"
    __partition_bytes__ = 20 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    tree = columns.Text(partition_key=True)
    category_id = columns.UUID(primary_key=True)
    version = columns.Integer(static=True)  # how often the tree was changed; null for never
    save_id = columns.UUID(static=True)  # the save that made this version
    slug = columns.Text()
    name = columns.Text()
    parent_id = columns.UUID()
    position = columns.Integer()
    description = columns.Text()
    picture = columns.Text()
    picture_alt = columns.Text()  # the picture's alt text; a drawing may have none
    former_slugs = columns.List(columns.Text)  # the latest former slugs; they redirect to `slug`
    changed_at = columns.DateTime()  # renamed, moved or reordered; null once products have followed
    followed_to = columns.Text()  # the place in its list up to which products have followed
    list_rule = columns.Text()  # the sort order of the category's products; null: newest first
    pinned_ids = columns.List(columns.UUID)  # the pinned products, which come first
    has_featured_list = columns.Boolean()  # the list with the pinned products is complete
    is_repinned = columns.Boolean()  # only the pinned products have changed since changed_at
    removed = columns.Boolean()


class ProductByCategory(CardColumns):
    """Q2: a category's products in one sort order. A product is listed in its categories and in all categories above them.

    The sort order is in the partition key. The bytes of `sort_key` sort in the order of the values; a reverse read gives the
    descending order.
    Bound: 400,000 products stay under 100 MB a partition.
    Writer: catalogue.operations.refresh_cards.
    """

    __table_name__ = "products_by_category"
    __partition_bytes__ = 100 * MB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    category_id = columns.UUID(partition_key=True)
    # created, price, name, rating, popular; also featured, if products are pinned
    sort = columns.Text(partition_key=True)
    sort_key = columns.Blob(primary_key=True)
    product_id = columns.UUID(primary_key=True)


class ListPosition(Model):
    """The places of a product's cards as 0.1.0 recorded them. They move to `products.list_places`, and the version after 0.2.0 drops the table.

    Bound: a row for each category and sort order: about 15 rows, 300 for a product in 20 categories, and a fifth more in
    categories with pinned products.
    Writer: catalogue.operations.refresh_cards, which deletes the rows; 0.1.0 wrote them.
    """

    __table_name__ = "list_positions_by_product"
    __partition_bytes__ = 100 * KB
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    category_id = columns.UUID(primary_key=True)
    sort = columns.Text(primary_key=True)
    sort_key = columns.Blob(primary_key=True)


class FeaturedProduct(CardColumns):
    """Q4: the product cards in the rows of the front page: featured, deals, new_arrivals, popular. Pinned products come first.

    Bound: 24 cards in each row of the front page (catalogue.operations.featured.FEATURED_LENGTH).
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
    """Q4: the products that staff pinned to the start of a front page row, in their order. A rule chooses the others.

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
    save_id = columns.UUID()  # the save that made this version
    changed_at = columns.DateTime()


class RelatedCards(Model):
    """Q5: the products related to a product: pinned, then bought together with it, then sharing a category or tag.

    Bound: one row a partition, 12 cards (catalogue.operations.RELATED_LENGTH) of some 300 bytes.
    Writer: catalogue.operations.rebuild_related.
    """

    __table_name__ = "related_cards"
    __partition_bytes__ = 50 * KB
    __options__ = READ_MOSTLY
    __personal_data__ = None
    product_id = columns.UUID(partition_key=True)
    cards = columns.Text()  # JSON, as catalogue.card_rows packs it; the first card comes first


class ProductByNamePrefix(Model):
    """Q3: the suggested products for a prefix of 2 to 8 letters of any word of their names, the best first.

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


# For how long changes of products are kept.
CHANGES_TTL = 7 * 24 * 3600


class ProductChange(Model):
    """Q3: the products that have changed. Cards, suggestions and the search index are updated after these rows.

    The index asks for new rows every second, so they are in one partition at a time.
    Bound: an hour's changes, two rows each of some 40 bytes: 20 changes a second are 6 MB. Rows vanish after a week.
    Writer: catalogue.operations.record_product_change.
    """

    __table_name__ = "product_changes_by_hour"
    __partition_bytes__ = 50 * MB
    __options__ = {"default_time_to_live": CHANGES_TTL}
    __personal_data__ = None
    hour = columns.DateTime(partition_key=True)
    changed = columns.TimeUUID(primary_key=True)
    product_id = columns.UUID()


class BulkChange(BulkChangeColumns):
    """Bulk changes of products, partitioned by the month of their start, newest first. `unfinished` has the ids of the unfinished ones.

    Bound: 2,000 changes a month are 1 MB; 100 changes are read. Rows vanish after 90 days.
    Writer: catalogue.bulk_changes, only by conditional writes.
    """

    __table_name__ = "bulk_changes"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = {
        "columns": ("started_by",),
        "on_erase": "expires",
        "why": "who changed prices has to be known for as long as it can be undone",
    }


class BulkChangeRow(BulkChangeRowColumns):
    """The products of a bulk change in their order, each with its result.

    The rows are written before their bulk change, under its random id. Rows whose change is never written expire by their TTL.
    Bound: 500 rows a bucket, 20 buckets a change; some 200 bytes a row, 30 KB with the former prices of 200 variants.
    Writer: catalogue.bulk_changes, only by conditional writes.
    """

    __table_name__ = "bulk_change_rows"
    __partition_bytes__ = 15 * MB
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = None
    product_id = columns.UUID()
    restore = columns.Text()  # JSON: the values that an undo restores
    expected = columns.Integer()  # the version that the product must have for an undo
    version = columns.Integer()  # the version that the save makes, stored before the save
    former = columns.Text()  # JSON: the values that the save replaces


# For how long staff see the result of an upload and can use it.
UPLOAD_TTL = 7 * 24 * 3600


class PictureUpload(Model):
    """Q1: the uploaded files of a product, a category or a review, each with its result.

    Bound: the uploads of a week, some 500 bytes each; 100 are read. Rows vanish after a week.
    Writer: catalogue.operations.picture_uploads, only by conditional writes.
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
    file_name = columns.Text()  # the file's name on the sender's machine
    incoming = columns.Text()  # the raw file's name in the storage
    state = columns.Text()  # waiting, ready, refused
    tries = columns.Integer()  # how often a worker has begun to decode it
    picture = columns.Text()  # the text that names the picture, when it is ready
    reason = columns.Text()  # the reason in words, when the file is refused
    salt = columns.Text()  # of a shopper's upload: no other picture shares its files


class WaitingUpload(Model):
    """The uploads that the worker has to decode, partitioned by the day of the upload. A row is written before the row of the upload.

    Bound: a day's uploads until they are decoded, 40 bytes each; deleted with the upload.
    Writer: catalogue.operations.picture_uploads.
    """

    __table_name__ = "waiting_uploads_by_day"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": UPLOAD_TTL, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)
    upload_id = columns.TimeUUID(primary_key=True)
    product_id = columns.UUID()  # the id of the picture's owner, as in picture_uploads


class ProductSchedule(Model):
    """Q3: the products whose lists have to change in a minute, because a sale or a price begins or ends.

    A row is written before its product is saved, and deleted when the lists are updated. A needless row does no harm.
    Bound: a row for each product that changes in this minute, 40 bytes each.
    Writer: catalogue.operations.save_product.
    """

    __table_name__ = "product_schedule_by_minute"
    __partition_bytes__ = 10 * MB
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    product_id = columns.UUID(primary_key=True)
