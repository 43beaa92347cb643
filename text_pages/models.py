"""The table of the versions of pages of text. The pages themselves are settings of the shop (text_pages.pages)."""

from cassandra.cqlengine import columns
from cassandra.cqlengine.models import Model

from cassandra_db.partitions import MB


class TextPageVersion(Model):
    """Text pages: a page's versions, the newest first, and the text of one of them. A row never changes: orders name versions.

    Bound: 1,000 versions of a page (text_pages.pages.MAX_VERSIONS) with at most 40,000 characters each; a usual one has 4,000.
    Writer: text_pages.operations.save_page, only by conditional writes.
    """

    __table_name__ = "text_page_versions"
    __partition_bytes__ = 40 * MB
    __personal_data__ = {"why": "the shop's own texts, and the ids of the staff who wrote them"}
    page = columns.Text(partition_key=True)  # the key of the page
    number = columns.Integer(primary_key=True, clustering_order="DESC")
    slug = columns.Text()
    title = columns.Text()
    description = columns.Text()
    text = columns.Text()  # Markdown with placeholders (text_pages.drawing)
    author_id = columns.UUID()
    saved_at = columns.DateTime()
    live_from = columns.DateTime()
