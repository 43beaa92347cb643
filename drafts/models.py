"""The table of draft orders."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class DraftOrderRow(Model):
    """The staff's draft orders, partitioned by the month in which they were begun, the newest first (decision 058).

    A draft has become an order if, and only if, an order with its `order_id` exists.
    Bound: 2,000 drafts a month, of 4 KB each, make 8 MB. 50 are read at a time. A draft expires 90 days after its last save.
    Writer: drafts.operations, only by conditional writes.
    """

    __table_name__ = "draft_orders"
    __partition_bytes__ = 8 * MB
    __options__ = {"default_time_to_live": 90 * 24 * 3600}
    __personal_data__ = {
        "columns": ("email", "user_id", "address", "billing_address"),
        "on_erase": "deleted",
    }
    month = columns.Date(partition_key=True)  # the first day of the month
    draft_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    version = columns.Integer()  # the number of saves so far
    state = columns.Text()  # open, sent (offered), or accepted (placed, or about to be)
    email = columns.Text()
    user_id = columns.UUID()  # the member with that e-mail address, if there is one
    address = columns.Map(columns.Text(), columns.Text())
    billing_address = columns.Map(columns.Text(), columns.Text())  # empty: the delivery address
    lines = columns.Text()  # JSON: the variants as last saved, with units and prices in minor units
    delivery_method = columns.Text()  # the method's code
    discount = columns.Text()  # JSON: kind, value, reason; empty without a discount
    added_to = columns.Text()  # the number of the order that the draft adds to
    offer = columns.Text()  # JSON: the offered delivery, the total, and the end of the offer
    order_id = columns.UUID()  # the id of the order that the draft becomes
    mailed = columns.Integer()  # the version whose mail is in the outbox
    changed_by = columns.Text()  # the staff's actor: "staff:<user id>:<name>"
    changed_at = columns.DateTime()
