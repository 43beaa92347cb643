"""Tables of imports and exports (order files included), and of the planned rows of imports."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import KB, MB

# Rows about people are kept for a week.
PEOPLE_ROW_TTL = 7 * 24 * 3600
# The same time for which products keep the marks of changes (catalogue.models.BULK_CHANGE_TTL).
TASK_TTL = 90 * 24 * 3600
MAPPING_TTL = 2 * 365 * 24 * 3600


class SpreadsheetTask(Model):
    """Imports and exports, partitioned by the month of their start, newest first.

    `unfinished` has the ids of the tasks that the worker has not finished; the batch that ends a task updates it.
    Bound: 2,000 tasks a month are 1 MB, and a file of another shop that waits has up to 300 KB; 200 tasks are read. Tasks vanish after 90 days.
    Writer: spreadsheets.operations, only by conditional writes.
    """

    __table_name__ = "spreadsheet_tasks"
    __partition_bytes__ = 4 * MB
    __options__ = {"default_time_to_live": TASK_TTL}
    __personal_data__ = {
        "columns": ("started_by",),
        "on_erase": "expires",
        "why": "who changed prices and stock has to be known for as long as it can be asked about",
    }
    month = columns.Date(partition_key=True)  # the first day of the month, in UTC
    task_id = columns.TimeUUID(primary_key=True, clustering_order="DESC")
    unfinished = columns.Set(columns.TimeUUID, static=True)
    layout = columns.Text()  # one of spreadsheets.layouts, or of orders.papers.order_files
    # reading, asking, refused, read, applying, linking, finished; writing, written, expired
    state = columns.Text()
    file_name = columns.Text()  # the file's name on the sender's machine
    stored_as = columns.Text()  # its name in the storage: the uploaded file, or the ids to export
    started_by = columns.UUID()
    started_at = columns.DateTime()
    changed_at = columns.DateTime()  # when the state was reached
    format = columns.Text()  # of an export: csv, xlsx or pdf
    encoding = columns.Text()  # of an import: the text's encoding, if it was guessed
    problem = columns.Text()  # why a file was refused
    handled = columns.Integer()  # how many rows or parts are done
    failures = columns.Integer()  # how many runs have failed since the last run that made progress
    total = columns.Integer()
    counts = columns.Map(columns.Text, columns.Integer)  # rows by plan, once the file is read
    results = columns.Map(columns.Text, columns.Integer)  # rows by result, once it is applied
    # Of a file of another shop, while it is not converted: JSON, what staff are asked, or have answered
    question = columns.Text()
    source = columns.Text()  # once it is converted: its preset, or other
    notes = columns.Map(columns.Text, columns.Integer)  # what was noticed, how often


class _Row(Model):
    """A row of an import, with its changes and its result."""

    __abstract__ = True
    task_id = columns.TimeUUID(partition_key=True)
    bucket = columns.Integer(partition_key=True)
    position = columns.Integer(primary_key=True)
    line = columns.Integer()  # the number of the row's first line in the file
    key = columns.Text()  # a product's address, a SKU, a SKU and a warehouse, an e-mail address …
    plan = columns.Text()  # new, changed, unchanged, faulty
    label = columns.Text()  # the product's or customer's name when the file was read
    product_id = columns.UUID()
    variant_id = columns.UUID()  # of stock
    seen = columns.Integer()  # of stock: the units received in total before the file was read
    # JSON: [[line, SKU, column, before, after], …]; of a faulty row its cells
    changes = columns.Text()
    faults = columns.Text()  # JSON: [[line, column, text], …]
    result = columns.Text()  # done, unchanged, refused, changed
    reason = columns.Text()
    failures = columns.Integer()  # how many attempts have failed with an error
    links = columns.Text()  # of pictures and products that the row names: waiting, failed
    link_faults = columns.Text()  # JSON, as `faults`: which of them are missing


class SpreadsheetRow(_Row):
    """The rows of an import in their order, each with its changes and its result.

    Bound: 100 rows a bucket, 1,000 buckets an import; some 300 bytes a row, 200 KB for a new product with 200 variants.
    Writer: spreadsheets.operations, by jobs.change_rows.
    """

    __table_name__ = "spreadsheet_rows"
    __partition_bytes__ = 20 * MB
    __options__ = {"default_time_to_live": TASK_TTL}
    __personal_data__ = None


class PeopleRow(_Row):
    """The rows of an import of customers, past orders or reviews, like those of other imports.

    Bound: 100 rows a bucket, 1,000 buckets an import; some 500 bytes a row, 200 KB for an order with 1,000 lines.
    Writer: spreadsheets.operations, by jobs.change_rows; the rows go after a week.
    """

    __table_name__ = "people_rows"
    __partition_bytes__ = 20 * MB
    __options__ = {"default_time_to_live": PEOPLE_ROW_TTL, "gc_grace_seconds": 24 * 3600}
    __personal_data__ = {
        "columns": ("key", "label", "changes", "faults"),
        "on_erase": "expires",
        "why": "what staff have sent, until they have looked at it and its result; it goes after a week",
    }


class FetchedPicture(Model):
    """Q1: the picture that was fetched from a web address. It is known for 90 days.

    Bound: one row, 3 KB.
    Writer: spreadsheets.operations.links.
    """

    __table_name__ = "fetched_pictures"
    __partition_bytes__ = 3 * KB
    __options__ = {"default_time_to_live": TASK_TTL}
    __personal_data__ = None
    url = columns.Text(partition_key=True)
    picture = columns.Text()  # the text that names the picture


class RememberedMapping(Model):
    """Q30: what becomes of the columns and categories of a file of another shop with these columns.

    Bound: one row a header, 256 columns and 300 categories, 300 KB. Vanishes two years after its last use.
    Writer: spreadsheets.operations.conversions.
    """

    __table_name__ = "remembered_mappings"
    __partition_bytes__ = 300 * KB
    __options__ = {"default_time_to_live": MAPPING_TTL}
    __personal_data__ = None
    head_hash = columns.Text(partition_key=True)  # SHA-256 of the layout and the columns' names
    targets = columns.Text()  # JSON: column -> target
    categories = columns.Text()  # JSON: the file's category -> a path of ours, or ""
