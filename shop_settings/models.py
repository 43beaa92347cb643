"""The table of the staff's settings."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB


class ShopSetting(Model):
    """The settings of delivery, taxes, terms and more, all in one partition, which is read at once.

    A kind without rows has its first values (shop_settings.kinds). The revision changes with each save, so rules hold across rows and
    kinds.
    Bound: a row a delivery method, a country's tax rates, a warehouse …: at most 500 (shop_settings.operations.MAX_SETTINGS), some 300 bytes each.
    Writer: shop_settings.operations.change_settings, by conditional batches alone.
    """

    __table_name__ = "shop_settings"
    __partition_bytes__ = 150 * KB
    __personal_data__ = {"why": "the shop's own terms; the seller it names is the shop"}
    shop = columns.Text(partition_key=True)  # "shop": there is one
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    revision = columns.UUID(static=True)
    value = columns.Text()  # JSON, in the form of its kind
    changed_at = columns.DateTime()
