"""The table of the staff's settings."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class ShopSetting(Model):
    """The settings of delivery, taxes, terms and more. All settings of a partition are read together.

    The partition "shop" has what nearly every page needs, "colours" the colours of option values, for pages with filters,
    "search" the rules for searches, "mails" the texts of mails, "saved_replies" the texts for replies to customers.
    A kind without rows has its first values (shop_settings.kinds). Each save checks and changes the revision, so rules hold across
    rows and kinds.
    Bound: at most 500 rows in "shop", some 300 bytes each: one for a delivery method, a warehouse … The brand and its last
    20 saves have at most 4 KB each, the two menus 24 KB, the 16 blocks of the front page 11 KB, the 40 pages of text 9 KB. At most
    2,000 rows in "colours", some 150 bytes each; at most 1,000 in "search" with two texts of 200 characters
    (SettingKind.max_settings); at most 150 in "mails" with 25 KB each; at most 200 in "saved_replies" with 21 KB each. These sizes are
    of the longest texts in characters of 4 bytes. In Latin letters they are a quarter.
    Writer: shop_settings.operations.change_settings, only by conditional batches.
    """

    __table_name__ = "shop_settings"
    __partition_bytes__ = 5 * MB
    __personal_data__ = {
        "why": "the shop's own terms and brands; the seller it names is the shop, and staff stand in it by their ids"
    }
    shop = columns.Text(partition_key=True)  # the partition of the settings' kind
    kind = columns.Text(primary_key=True)
    key = columns.Text(primary_key=True)
    revision = columns.UUID(static=True)
    value = columns.Text()  # JSON, as the setting's kind writes it
    changed_at = columns.DateTime()
