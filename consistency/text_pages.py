"""I51: the settings of pages of text name their versions as these were saved, and none is left that was saved and not published."""

from collections.abc import Iterator
from itertools import groupby

from cassandra_db import scan
from consistency.findings import Check, Violation, table_subjects
from shop_settings.queries import get_settings_at_quorum
from text_pages.operations import name_versions_again, publish_version
from text_pages.pages import TEXT_PAGES, TextPage
from text_pages.queries import version_from_row

RULE, TABLE = "I51", "text_page_versions"
VERSIONS = scan(
    RULE,
    f"""SELECT page, number, slug, title, description, author_id, saved_at, live_from FROM {TABLE}
       WHERE token(page) > :start AND token(page) <= :end""",  # noqa: S608 -- a constant
)


def _check_pages(_table: str) -> Iterator[Violation]:
    pages = get_settings_at_quorum().get_values(TEXT_PAGES)
    for key, rows in groupby(VERSIONS.iterate_table(), lambda row: str(row.page)):
        heads = {row.number: version_from_row(row, "").head for row in rows}
        page, last = pages.get(key, TextPage(key, 0, ())), heads[max(heads)]
        if last.number > page.saved:
            yield Violation(
                RULE,
                f"page {key}",
                f"version {last.number} was saved and not published",
                fix=lambda now, key=key, last=last: publish_version(key, last, now),  # type: ignore[misc]
            )
        named = {each.number: each for each in page.heads if each.number}
        if any(heads.get(number) != head for number, head in named.items()):
            yield Violation(
                RULE,
                f"page {key}",
                "names a version otherwise than it was saved",
                fix=lambda now, key=key, heads=heads: name_versions_again(key, heads, now),  # type: ignore[misc]
            )


CHECKS = (Check("pages of text", (RULE,), table_subjects((TABLE,)), _check_pages),)
