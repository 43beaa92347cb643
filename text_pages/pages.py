"""The shop's pages of text: a setting for each page, which names the version that is live and those that go live later."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.urls import reverse
from django.utils.translation import gettext as _

from shop_settings.errors import SettingRefused
from shop_settings.kinds import SettingKind, SettingsSnapshot, pick_fields

MAX_PAGES, MAX_PLANNED, MAX_FORMER_SLUGS = 40, 5, 20
MAX_VERSIONS = 1000
HELP, TERMS_PAGE = "help", "terms"
# The pages of a new shop. The law wants them, or other pages link to them, so they cannot be taken offline. The text of each is
# its version 0, a file. Orders name versions of the terms, so their file never changes: another text is a further version.
FIRST_PAGES = (HELP, "delivery", "privacy", TERMS_PAGE, "imprint", "accessibility")
_FOLDER = Path(__file__).parent / "texts"
_BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class PageHead:
    """What a page's setting says of a version: all but its text. `description` is for search engines.

    The page is at /help/<slug>/ while this version is live; the slug of the help page is "".
    """

    number: int
    slug: str
    title: str
    description: str
    live_from: datetime

    def get_absolute_url(self) -> str:
        return reverse("text_page", args=[self.slug]) if self.slug else reverse(HELP)


@dataclass(frozen=True)
class PageVersion:
    """A version of a page with its text, who saved it and when."""

    head: PageHead
    text: str
    author_id: UUID | None  # None, like the moment, for the text that came with the shop
    saved_at: datetime | None


@dataclass(frozen=True)
class TextPage:
    """A page of text. `saved` is the number of its last saved version, 0 for a page as it came with the shop.

    `heads` has the live version and the versions that go live later, in this order. Links to a former slug are redirected.
    """

    key: str
    saved: int
    heads: tuple[PageHead, ...]
    former_slugs: tuple[str, ...] = ()
    is_offline: bool = False

    @property
    def is_required(self) -> bool:
        return self.key in FIRST_PAGES

    def find_live(self, now: datetime) -> PageHead | None:
        """Return the head of the version that is live; None if the page is offline or not live yet."""
        return None if self.is_offline else self._find_last(now)

    def _find_last(self, now: datetime) -> PageHead | None:
        return next((each for each in reversed(self.heads) if each.live_from <= now), None)

    def list_former_slugs(self, now: datetime) -> tuple[str, ...]:
        """Return the slugs at which the page was and is no more, the last one last."""
        last = self._find_last(now)
        passed = [each.slug for each in self.heads if each.live_from <= now]
        slugs = dict.fromkeys([*self.former_slugs, *passed])
        return tuple(each for each in slugs if last is None or each != last.slug)

    def with_version(self, head: PageHead, now: datetime) -> "TextPage":
        """Return the page with another version. Versions that are no longer live leave the setting."""
        heads = sorted((*self.heads, head), key=lambda each: (each.live_from, each.number))
        page = replace(self, heads=tuple(heads), saved=max(self.saved, head.number))
        last, former = page._find_last(now), page.list_former_slugs(now)
        kept = tuple(each for each in heads if each is last or each.live_from > now)
        return replace(page, heads=kept, former_slugs=former[-MAX_FORMER_SLUGS:])

    def skip_numbers(self, count: int) -> "TextPage":
        """Return the page without these many of its next numbers, which versions may have had that a restore has lost."""
        # Of a page without versions the last saved one is shown.
        skipped = count if self.heads else 0
        return replace(self, saved=min(self.saved + skipped, MAX_VERSIONS))

    def without_planned(self, number: int, now: datetime) -> "TextPage":
        """Return the page without a version that is not live yet."""
        kept = (each for each in self.heads if each.number != number or each.live_from <= now)
        return replace(self, heads=tuple(kept))


def read_first_version(key: str) -> PageVersion:
    """Return the version that came with the shop. Raises FileNotFoundError for other pages."""
    title, description, _blank, text = (_FOLDER / f"{key}.md").read_text().split("\n", 3)
    slug = "" if key == HELP else key
    head = PageHead(0, slug, title, description, _BEGINNING)
    return PageVersion(head, text, None, None)


def _parse(key: str, value: Mapping[str, Any]) -> TextPage:
    heads = (
        PageHead(
            **pick_fields(PageHead, each) | {"live_from": datetime.fromisoformat(each["live_from"])}
        )
        for each in value["heads"]
    )
    return TextPage(
        **pick_fields(TextPage, value)
        | {"key": key, "heads": tuple(heads), "former_slugs": tuple(value["former_slugs"])}
    )


def _dump(page: TextPage) -> dict[str, Any]:
    value = asdict(page) | {
        "heads": [asdict(each) | {"live_from": each.live_from.isoformat()} for each in page.heads],
        "former_slugs": list(page.former_slugs),
    }
    del value["key"]
    return value


def list_first_pages() -> dict[str, TextPage]:
    """Return the pages of a new shop."""
    return {key: TextPage(key, 0, (read_first_version(key).head,)) for key in FIRST_PAGES}


def _check(snapshot: SettingsSnapshot, today: date) -> None:
    """Check that no two pages have an address in common, and that no page has too much. Raises SettingRefused."""
    pages = snapshot.get_values(TEXT_PAGES)
    if len(pages) > MAX_PAGES:
        raise SettingRefused(_("There are too many pages. Write into one of them instead."))
    owners: dict[str, str] = {}
    for page in pages.values():
        if len(page.heads) > MAX_PLANNED + 1:
            raise SettingRefused(
                _("Too many versions are scheduled. Cancel one first."), "live_from"
            )
        if page.saved > MAX_VERSIONS:
            raise SettingRefused(_("This page has too many versions. Add another page instead."))
        for slug in [*(each.slug for each in page.heads), *page.former_slugs]:
            if owners.setdefault(slug, page.key) != page.key:
                raise SettingRefused(
                    _("Another page has or had this address. Enter another one"), "slug"
                )
    if any(key not in pages or pages[key].is_offline for key in FIRST_PAGES):
        raise SettingRefused(_("This page has to stay: the law or other pages need it."))


TEXT_PAGES = SettingKind("text_page", _parse, _dump, list_first_pages, _check)


def find_page_at(
    pages: Iterable[TextPage], slug: str, now: datetime
) -> tuple[TextPage, PageHead] | None:
    """Return the page that is or was at this slug, with the head of its live version; None for a page that is not live."""
    for page in pages:
        live = page.find_live(now)
        if live and (live.slug == slug or slug in page.list_former_slugs(now)):
            return page, live
    return None
