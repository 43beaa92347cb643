"""The tables of orders, of their lines, and of the lists in which an order is found."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB
from jobs.models import BULK_CHANGE_TTL, BulkChangeColumns, BulkChangeRowColumns


class Order(Model):
    """Q12, Q14: an order and its history. The header is static; each row is an event, newest first.

    Before an order is placed, its partition may have a claim (`placing`, for seconds). The state "abandoned" marks a checkout
    that never became an order; it has no number. The other states are in orders.lifecycle.states.
    Bound: the events of one order, some dozens.
    Writer: orders.operations.place_order and transition_order, only by conditional batches.
    """

    __table_name__ = "orders"
    __partition_bytes__ = 1 * MB
    __personal_data__ = {
        "columns": ("user_id", "email", "name", "customer_notes"),
        "on_erase": "pseudonymised",
        "why": "tax law asks for numbers, sums and days, not for names",
    }
    order_id = columns.UUID(partition_key=True)
    event_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    number = columns.Text(static=True)
    owner_id = columns.UUID(static=True)  # the member or guest whose cart was ordered
    user_id = columns.UUID(static=True)  # null for a guest
    email = columns.Text(static=True)
    name = columns.Text(static=True)
    state = columns.Text(static=True)
    payment = columns.Text(static=True)
    fulfilment = columns.Text(static=True)
    version = columns.Integer(static=True)
    placed_at = columns.DateTime(static=True)
    pay_until = columns.DateTime(static=True)
    currency = columns.Text(static=True)
    subtotal = columns.BigInt(static=True)
    delivery = columns.BigInt(static=True)
    discount = columns.BigInt(static=True)
    total = columns.BigInt(static=True)
    tax = columns.BigInt(static=True)  # included in the total, whether prices include it or not
    taxes = columns.Text(static=True)  # JSON: a list of {rate, net, tax} in minor units
    tax_rates = columns.Text(static=True)  # JSON: per cent by tax class, as it was placed
    item_count = columns.Integer(static=True)
    country = columns.Text(static=True)
    delivery_address = columns.Map(columns.Text, columns.Text, static=True)
    billing_address = columns.Map(columns.Text, columns.Text, static=True)
    # Delivery as promised when it was placed: the method's code and name, and the expected days in the shop's time zone.
    # Orders of earlier versions have only the code. The price is in `delivery`.
    delivery_method = columns.Text(static=True)
    delivery_title = columns.Text(static=True)
    carrier = columns.Text(static=True)  # '' if it is picked up
    estimated_from = columns.Date(static=True)
    estimated_delivery = columns.Date(static=True)
    customer_notes = columns.Text(static=True)  # the shopper's notes about the delivery
    # the version of the terms of sale that its shopper has accepted; null for orders by staff and of earlier versions
    terms_version = columns.Integer(static=True)
    tags = columns.Set(columns.Text, static=True)  # words that staff have put on it (orders.tags)
    first_item_name = columns.Text(static=True)
    first_item_picture = columns.Text(static=True)
    # JSON: a list of the ordered SKUs, each once; null for orders of earlier versions
    skus = columns.Text(static=True)
    cart_id = columns.UUID(static=True)
    tried = columns.Boolean(static=True)  # it was claimed before, so reservations may exist
    placing = columns.UUID(static=True)  # the claim that reserves its units now; has a TTL
    allocations = columns.Text(static=True)  # JSON: {"take": n, "<warehouse>": [[line, units], …]}
    # identifies the submitted content: the same checkout with other content is refused
    fingerprint = columns.Text(static=True)
    payment_id = columns.UUID(static=True)  # the attempt that paid it
    payment_method = columns.Text(static=True)  # one of payments.gateways.METHODS
    captured = columns.BigInt(static=True)  # the sum of its captures so far
    refunded = columns.BigInt(static=True)  # the sum of its refunds; at most `captured` (I2)
    voucher = columns.Text(static=True)  # the code that was used
    # JSON: a list of {name, amount} in minor units, which add up to the discount
    discounts = columns.Text(static=True)
    kind = columns.Text()  # one of orders.lifecycle.states.EVENT_KINDS
    actor = columns.Text()  # shopper, system, or a member of staff by name
    note = columns.Text()
    public = columns.Boolean()  # the shopper may read it
    # JSON: the event's details, such as a parcel's lines; see orders.lifecycle.states
    details = columns.Text()
    request_id = columns.UUID()  # the id of the request that caused the event; null for the worker
    # the id of the submitted form (orders.submits), the same if the form is sent twice; null for events of the system
    submit_id = columns.UUID()
    state_after = columns.Text()
    board_after = columns.Text()


class OrderItem(Model):
    """Q13: an order's lines. They are never changed after the order was placed.

    Bound: 1,000 lines.
    Writer: orders.operations.place_order.
    """

    __table_name__ = "order_items"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"why": "items and prices; the person is in orders"}
    order_id = columns.UUID(partition_key=True)
    line_number = columns.Integer(primary_key=True)
    product_id = columns.UUID()
    variant_id = columns.UUID()
    sku = columns.Text()
    name = columns.Text()
    slug = columns.Text()
    options = columns.Map(columns.Text, columns.Text)
    picture = columns.Text()
    unit_price = columns.BigInt()
    quantity = columns.Integer()
    line_total = columns.BigInt()
    discount = columns.BigInt()  # the line's share of the order's discount
    tax_added = columns.BigInt()  # the line's share of the tax that is added to prices; else 0
    tax_class = columns.Text()


class OrderByUser(Model):
    """Q11: a person's orders, the newest first, by year; a copy of the order.

    Bound: the orders of a person in a year.
    Writer: orders.operations.write_copies.
    """

    __table_name__ = "orders_by_user"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    year = columns.Integer(partition_key=True)
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID(primary_key=True, clustering_order="DESC")
    number = columns.Text()
    customer_label = columns.Text()  # the status in one word for the shopper
    total = columns.BigInt()
    currency = columns.Text()
    item_count = columns.Integer()
    first_item_name = columns.Text()
    first_item_picture = columns.Text()


class OrderYearByUser(Model):
    """Q11: the years in which a person has ordered, so that other years need not be read.

    Bound: a row a year.
    Writer: orders.operations.write_copies.
    """

    __table_name__ = "order_years_by_user"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    year = columns.Integer(primary_key=True, clustering_order="DESC")


class UserStats(Model):
    """The number of orders that a person has paid for, and the amount spent less refunds, by currency.

    Bound: a row for each currency that the shop ever sold in.
    Writer: orders.operations.user_stats. The worker rewrites all rows of a person a few minutes after money has moved.
    """

    __table_name__ = "user_stats"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    user_id = columns.UUID(partition_key=True)
    currency = columns.Text(primary_key=True)
    order_count = columns.Integer()  # orders that were not refunded in full
    total_spent = columns.BigInt()  # in minor units
    # the last_order_at of the person's row in customers_by_last_order
    listed_at = columns.DateTime(static=True)


class CustomerByLastOrder(Model):
    """Q11: the customers by their last paid order, the latest first; a copy of their sums.

    Bound: a quarter of the members whose last paid order is of one month: 100,000 members make rows of 150 bytes, 4 MB.
    Writer: orders.operations.user_stats. A new last order moves a person's row.
    """

    __table_name__ = "customers_by_last_order"
    __partition_bytes__ = 5 * MB
    __personal_data__ = {"columns": ("user_id",), "on_erase": "deleted"}
    month = columns.Date(partition_key=True)  # the first day of the last order's month, in UTC
    shard = columns.Integer(partition_key=True)  # 0 to 3, by the person's id
    last_order_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    user_id = columns.UUID(primary_key=True, clustering_order="DESC")
    order_count = columns.Integer()  # orders that were not refunded in full, in all currencies
    spent = columns.Map(columns.Text, columns.BigInt)  # minor units by currency
    country = columns.Text()  # to which the last order was sent
    tags = columns.Text()  # JSON: the tags of the person's paid orders, at most 20


class CustomerMonth(Model):
    """Q11: the months that have, or had, customers in the list by last order.

    Bound: a row a month.
    Writer: orders.operations.user_stats.
    """

    __table_name__ = "customer_months"
    __partition_bytes__ = 50 * KB
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    month = columns.Date(primary_key=True, clustering_order="DESC")


class CustomerSegment(Model):
    """Q11: how many customers each segment had when the worker last counted them.

    Bound: a row for each segment of orders.customers.
    Writer: orders.operations.customer_segments.
    """

    __table_name__ = "customer_segments"
    __partition_bytes__ = 10 * KB
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    segment = columns.Text(primary_key=True)
    customer_count = columns.Integer()
    spent_from = columns.BigInt()  # of the best tenth: the least amount, in minor units
    counted_at = columns.DateTime()


class PendingUserStats(Model):
    """The members whose order sums have to be computed again, partitioned by the minute in which money moved.

    A row is written in the batch of the order's copies, and deleted after the sums are computed.
    Bound: the members whose orders moved money in one minute.
    Writer: orders.operations.copies.write_copies.
    """

    __table_name__ = "pending_user_stats_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": 31 * 24 * 3600, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("user_id",),
        "on_erase": "expires",
        "why": "a note for the worker, gone within minutes",
    }
    minute = columns.DateTime(partition_key=True)
    user_id = columns.UUID(primary_key=True)
    written = columns.BigInt()  # in microseconds since 1970: the time of the row and of its removal


class OrderByEmailAndYear(Model):
    """Q15: the orders that were placed with an e-mail address, the newest first, by year; a copy of the order.

    Bound: the orders of one mailbox in a year.
    Writer: orders.operations.write_copies.
    """

    __table_name__ = "orders_by_email_and_year"
    __partition_bytes__ = 2 * MB
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    email = columns.Text(partition_key=True)  # casefolded
    year = columns.Integer(partition_key=True)  # in which they were placed, in UTC
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID(primary_key=True, clustering_order="DESC")
    number = columns.Text()


class OrderYearByEmail(Model):
    """Q15: the years in which orders were placed with an e-mail address, so that other years need not be read.

    Bound: a row a year.
    Writer: orders.operations.write_copies; orders.operations.anonymize_order deletes years without orders.
    """

    __table_name__ = "order_years_by_email"
    __partition_bytes__ = 10 * KB
    __personal_data__ = {"columns": ("email",), "on_erase": "deleted"}
    email = columns.Text(partition_key=True)  # casefolded
    year = columns.Integer(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID()  # the year's last order; its write time is the row's


class OrderBySearchTerm(Model):
    """The staff's search for orders: by the beginning of a number, name or city, a SKU, or a tracking number. A copy of the order.

    Bound: a year's orders with the same SKU, or with names or cities of the same first two letters. If these are 750,000 of
    3,000,000 orders, the rows of 130 bytes make 100 MB.
    Writer: orders.operations.write_copies; orders.operations.anonymize_order deletes names, cities and tracking numbers.
    """

    __table_name__ = "orders_by_search_term"
    __partition_bytes__ = 100 * MB
    __personal_data__ = {"columns": ("term", "label"), "on_erase": "deleted"}
    kind = columns.Text(partition_key=True)  # number, name, place, sku or tracking
    # the first two letters of a number or of a word of a name or city; else the whole term
    head = columns.Text(partition_key=True)
    year = columns.Integer(partition_key=True)  # in which it was placed, in UTC
    term = columns.Text(primary_key=True)  # without case, accents and hyphens
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID(primary_key=True, clustering_order="DESC")
    number = columns.Text()
    label = columns.Text()  # the order's text from which the term is made


class SearchTermByOrder(Model):
    """The terms, present and former, under which the staff's search lists an order, so that erasure can delete them.

    Bound: 60 terms of each of five kinds, and the terms of former addresses.
    Writer: orders.operations.write_copies and anonymize_order.
    """

    __table_name__ = "search_terms_by_order"
    __partition_bytes__ = 50 * KB
    __personal_data__ = {"columns": ("term",), "on_erase": "deleted"}
    order_id = columns.UUID(partition_key=True)
    kind = columns.Text(primary_key=True)
    term = columns.Text(primary_key=True)
    number = columns.Text()


class ViewerByOrder(Model):
    """Q12: the staff who have an order's page open, so that two people do not work on the order unknowingly.

    Bound: a row for each member of staff. It expires 15 seconds after their page last reported.
    Writer: orders.viewers.
    """

    __table_name__ = "viewers_by_order"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": 15, "gc_grace_seconds": 3600}
    __personal_data__ = {
        "columns": ("user_id", "name"),
        "on_erase": "expires",
        "why": "gone 15 seconds after the page is closed",
    }
    number = columns.Text(partition_key=True)  # the order's number
    user_id = columns.UUID(primary_key=True)
    name = columns.Text()


class RecentOrderTag(Model):
    """Q15: the tags that staff have recently put on orders, for suggestions and filters.

    Bound: the tags of 90 days, some dozens. At most 200 are read.
    Writer: orders.operations.change_tags.
    """

    __table_name__ = "recent_order_tags"
    __partition_bytes__ = 50 * KB
    __options__ = {"default_time_to_live": 90 * 24 * 3600}
    __personal_data__ = None
    scope = columns.Text(partition_key=True)  # "all": there is one list
    tag = columns.Text(primary_key=True)


class OrderByStatus(Model):
    """Q15: orders by their column on the staff's board and the day they were placed; a copy of the order.

    No TTL (fault 5): an open order of any age stays on the board.
    Bound: the orders of a day in one column: 400,000 orders of 250 bytes make 100 MB.
    Writer: orders.operations.write_copies. The write timestamp is "placed + version", so that late writes of earlier versions lose.
    """

    __table_name__ = "orders_by_status"
    __partition_bytes__ = 100 * MB
    __personal_data__ = {
        "columns": ("name", "email"),
        "on_erase": "pseudonymised",
        "why": "a copy of the order",
    }
    status = columns.Text(partition_key=True)  # one of orders.lifecycle.states.BOARD_COLUMNS
    order_date = columns.Date(partition_key=True)
    placed_at = columns.DateTime(primary_key=True, clustering_order="DESC")
    order_id = columns.UUID(primary_key=True, clustering_order="DESC")
    number = columns.Text()
    name = columns.Text()
    email = columns.Text()
    country = columns.Text()
    total = columns.BigInt()
    currency = columns.Text()
    item_count = columns.Integer()
    payment = columns.Text()
    payment_method = columns.Text()
    fulfilment = columns.Text()
    is_pickup = columns.Boolean()  # the customer picks the order up
    delivery_method = columns.Text()  # its code
    estimated_delivery = columns.Date()  # the last day on which it was promised
    skus = columns.Text()  # JSON: a list of the ordered SKUs, each once
    tags = columns.Text()  # JSON: a list in alphabetical order
    version = columns.Integer()


class OrderDayByStatus(Model):
    """Q15: the days on which a column of the board has orders, and how many orders each has.

    Bound: a row a day.
    Writer: orders.operations.write_copies; the numbers by orders.operations.board_counts. A job deletes days without orders, with a
    timestamp an hour behind real time.
    """

    __table_name__ = "order_days_by_status"
    __partition_bytes__ = 500 * KB
    __personal_data__ = None
    status = columns.Text(partition_key=True)
    order_date = columns.Date(primary_key=True)
    order_count = columns.Integer()  # up to 501; null until it is counted


class BoardCount(Model):
    """Q15: how many orders the columns of the board have, and the days to be counted again.

    The row of 1970-01-01 is a column's number. Each other row is a change: it is written in the batch with the orders' copies, and
    whoever reads it counts that day again. It is deleted once it is ten seconds old, when all of its batch is visible.
    Bound: the columns, and the days with orders that changed since somebody looked at the board: some thousand rows of 40 bytes.
    Writer: orders.operations.board_counts; the changes by orders.operations.write_copies.
    """

    __table_name__ = "board_counts"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    shop = columns.Text(partition_key=True)
    status = columns.Text(primary_key=True)
    order_date = columns.Date(primary_key=True)
    order_count = columns.Integer()  # of the column, up to 501
    changed = (
        columns.BigInt()
    )  # the latest change, in microseconds since 1970: the timestamp of a change's row


class DeliveredOrderByDay(Model):
    """Q15: the orders whose last parcel arrived on a day, for mails that ask customers to review the products.

    Bound: the orders of a day: 400,000 rows of 40 bytes make 16 MB; 500 are read at a time. A row expires after 60 days.
    Writer: orders.operations.deliveries.note_delivery, an effect of an order's events.
    """

    __table_name__ = "delivered_orders_by_day"
    __partition_bytes__ = 16 * MB
    __options__ = {"default_time_to_live": 60 * 24 * 3600}
    __personal_data__ = None
    day = columns.Date(partition_key=True)  # in UTC
    order_id = columns.UUID(primary_key=True)


class OrderIdByNumber(Model):
    """Q12: the order that has a number. An order claims its number by IF NOT EXISTS.

    Bound: one row a partition.
    Writer: orders.operations.claim_order_number.
    """

    __table_name__ = "order_ids_by_number"
    __partition_bytes__ = 1 * KB
    __personal_data__ = {"why": "a number alone; tax law asks for it"}
    number = columns.Text(partition_key=True)
    order_id = columns.UUID()


class UnpaidUnits(Model):
    """The units on unpaid orders, counted for each mailbox and for each network (a bucket); one row for each order.

    Bound: a bucket has at most as many rows as its limit of units (shop_settings.terms). Each row has a TTL.
    Writer: orders.operations.unpaid_units, only by conditional writes. The orders are authoritative.
    """

    __table_name__ = "unpaid_units"
    __partition_bytes__ = 50 * KB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("bucket",),
        "on_erase": "expires",
        "why": "a keyed hash of an address, gone once the order is paid or has ended",
    }
    bucket = columns.Text(partition_key=True)  # a keyed hash of the mailbox or network
    order_id = columns.UUID(primary_key=True)
    # changes with each counted order, so that of two concurrent writes one fails
    version = columns.Integer(static=True)
    units = columns.Integer()


class Payment(Model):
    """Q12: the gateway's reference of an attempt to pay an order; the attempt itself is the order's event `payment_started`.

    Bound: the attempts of one order, 20 (orders.operations.MAX_ATTEMPTS).
    Writer: orders.operations.start_payment, by plain upserts: the gateway gives one reference for each id.
    """

    __table_name__ = "payments"
    __partition_bytes__ = 50 * KB
    __personal_data__ = {"why": "a gateway and its reference; the person is in orders"}
    order_id = columns.UUID(partition_key=True)
    payment_id = columns.UUID(primary_key=True)
    gateway = columns.Text()
    reference = columns.Text()


class PaymentWebhook(Model):
    """The webhooks of gateways that were processed, so that each event is processed once.

    Bound: one row a partition. It expires after a week, when no gateway repeats the webhook any more.
    Writer: orders.operations.process_webhook, only by conditional writes.
    """

    __table_name__ = "payment_webhooks"
    __partition_bytes__ = 50 * KB
    __options__ = {"default_time_to_live": 7 * 24 * 3600}
    __personal_data__ = {"why": "a gateway's own ids"}
    gateway = columns.Text(partition_key=True)
    event_id = columns.Text(partition_key=True)
    state = columns.Text()  # begun (for two minutes), followed
    handler = columns.UUID()


class OrderChange(BulkChangeColumns):
    """Bulk changes of orders, partitioned by the month in which they were started, the newest first.

    `unfinished` lists the changes that the worker has not finished. The same conditional batch writes this list and the change.
    Bound: 2,000 changes a month make 1 MB; 100 are read. A change expires after 90 days.
    Writer: orders.bulk_changes, only by conditional writes.
    """

    __table_name__ = "order_changes"
    __partition_bytes__ = 1 * MB
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = {
        "columns": ("started_by", "act"),
        "on_erase": "expires",
        "why": "who has changed orders is in the orders' histories, too",
    }


class OrderChangeRow(BulkChangeRowColumns):
    """The orders of a bulk change, in sequence, with the result for each.

    The rows are written before the change, under its new id, so a change always has all of its rows.
    Bound: 500 rows a bucket, 20 buckets a change; about 200 bytes a row.
    Writer: orders.bulk_changes, only by conditional writes.
    """

    __table_name__ = "order_change_rows"
    __partition_bytes__ = 100 * KB
    __options__ = {"default_time_to_live": BULK_CHANGE_TTL}
    __personal_data__ = None
    order_id = columns.UUID()
    tracking = columns.Text()  # the tracking number for the order's parcel, if it gets one
    refundable = columns.BigInt()  # the most that cancelling may refund; null if unknown


class TrackingNumber(Model):
    """The order that owns a tracking number. It takes the number before the parcel is shipped, so no other order gets the number.

    `version` is the version of the order on which the event with the number is conditional.
    Bound: one row a partition. It expires after 400 days, when carriers begin to reuse numbers.
    Writer: orders.operations.tracking_numbers, only by conditional writes.
    """

    __table_name__ = "tracking_numbers"
    __partition_bytes__ = 1 * KB
    __options__ = {"default_time_to_live": 400 * 24 * 3600}
    __personal_data__ = {"columns": ("tracking",), "on_erase": "deleted"}
    tracking = columns.Text(partition_key=True)
    order_id = columns.UUID()
    version = columns.Integer()


class PendingEffectByMinute(Model):
    """The orders that may have effects (copies, stock, mail) to apply, partitioned by the minute from which the worker checks the order.

    A row is written before the event, and deleted when all effects of the event are applied. A crash may leave a needless row.
    A row that has `is_inquiry` without `has_effects` only asks for the outcome of a payment attempt.
    Bound: the orders of one minute.
    Writer: orders.operations.
    """

    __table_name__ = "pending_effects_by_minute"
    __partition_bytes__ = 1 * MB
    __options__ = {"gc_grace_seconds": 24 * 3600}
    __personal_data__ = None
    minute = columns.DateTime(partition_key=True)
    order_id = columns.UUID(primary_key=True)
    has_effects = columns.Boolean()
    is_inquiry = columns.Boolean()
