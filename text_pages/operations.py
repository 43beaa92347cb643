"""Saves versions of pages of text, publishes them, and takes pages offline.

A version is stored first, then its page names it. If a process dies between, the same form sent again goes on, and the consistency
check publishes what was left (I51).
"""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from datetime import datetime

from cassandra_db import SEND_AGAIN, conditional_write
from shop_settings.errors import SettingChanged
from shop_settings.operations import change_settings, check_settings
from shop_settings.queries import get_settings_at_quorum
from text_pages.pages import TEXT_PAGES, PageHead, PageVersion, TextPage
from text_pages.queries import version_from_row

INSERT_VERSION = conditional_write(
    "text pages",
    """INSERT INTO text_page_versions (page, number, slug, title, description, text, author_id, saved_at, live_from)
       VALUES (:page, :number, :slug, :title, :description, :text, :author_id, :saved_at, :live_from) IF NOT EXISTS""",
)


def save_page(key: str, typed: PageVersion, now: datetime) -> TextPage:
    """Store the next version of a page, or the first one of a new page, and publish it. A repeat changes nothing.

    `typed.head.number` is one more than the number of the last version that the editor has seen. Raises SettingRefused,
    SettingChanged, SettingsBusy, CassandraUnavailable.
    """
    settings, head = get_settings_at_quorum(), typed.head
    pages = settings.get_values(TEXT_PAGES)
    page = pages.get(key, TextPage(key, 0, ()))
    if page.saved < head.number:
        after = {**pages, key: page.with_version(head, now)}
        check_settings(settings.with_values(TEXT_PAGES, after), TEXT_PAGES, now)
    stored = INSERT_VERSION.apply(
        if_lost=SEND_AGAIN,
        page=key,
        **{each.name: getattr(head, each.name) for each in fields(head)},
        text=typed.text,
        author_id=typed.author_id,
        saved_at=typed.saved_at,
    )
    if not stored and stored.current:
        found = version_from_row(stored.current, stored.current.text)
        if _list_words(found) != _list_words(typed):
            raise SettingChanged
        head = found.head
    return publish_version(key, head, now)


def _list_words(version: PageVersion) -> tuple[str, ...]:
    head = version.head
    return (head.slug, head.title, head.description, version.text)


def publish_version(key: str, head: PageHead, now: datetime) -> TextPage:
    """Let a page name a stored version. A repeat changes nothing. Raises SettingRefused, SettingsBusy, CassandraUnavailable."""
    return change_page(
        key, lambda page: page if page.saved >= head.number else page.with_version(head, now), now
    )


def name_versions_again(key: str, stored: Mapping[int, PageHead], now: datetime) -> TextPage:
    """Let a page name its versions as they are stored. One that is not stored is left out, unless it came with the shop."""

    def name(page: TextPage) -> TextPage:
        heads = (stored.get(each.number) if each.number else each for each in page.heads)
        return replace(page, heads=tuple(filter(None, heads)))

    return change_page(key, name, now)


def take_back_version(key: str, number: int, now: datetime) -> TextPage:
    """Take a version that is not live yet out of its page, and return the page. The version stays among the page's versions.

    Raises SettingRefused, SettingsBusy, CassandraUnavailable.
    """
    return change_page(key, lambda page: page.without_planned(number, now), now)


def set_offline(key: str, now: datetime, *, is_offline: bool) -> TextPage:
    """Take a page offline, or put it online again.

    Raises SettingRefused for a page that has to stay, SettingsBusy, CassandraUnavailable.
    """
    return change_page(key, lambda page: replace(page, is_offline=is_offline), now)


def change_page(key: str, change: Callable[[TextPage], TextPage], now: datetime) -> TextPage:
    """Change the setting of a page, and return it. Raises SettingRefused, SettingsBusy, CassandraUnavailable."""

    def change_pages(pages: Mapping[str, TextPage]) -> Mapping[str, TextPage]:
        return {**pages, key: change(pages.get(key, TextPage(key, 0, ())))}

    return change_settings(TEXT_PAGES, change_pages, now).get_values(TEXT_PAGES)[key]
