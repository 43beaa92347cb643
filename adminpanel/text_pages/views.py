"""The staff's pages of the pages of text: write, preview, publish at once or later, use an earlier version again, take offline."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import ADMIN
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.names import list_names
from adminpanel.parameters import found_or_404
from adminpanel.text_pages.forms import TextPageForm, describe_version
from cassandra_db import current_time
from shop_settings.errors import SettingChanged, SettingRefused, SettingsBusy
from shop_settings.queries import get_settings_at_quorum
from text_pages import operations, queries
from text_pages.drawing import draw_text
from text_pages.errors import NoSuchPageVersion
from text_pages.pages import MAX_VERSIONS, TEXT_PAGES, PageVersion, TextPage, read_first_version
from web.decorators import get_or_post, post_only
from web.rendering import render_page

LIVE, PLANNED, LEFT, FORMER = "live", "planned", "left", "former"
_ABOVE_ALL = MAX_VERSIONS + 1
_NEW = "new"  # the staff's address of the form for a new page


@dataclass(frozen=True)
class VersionLine:
    """A version in the list of a page's versions, with its author's name and its state."""

    version: PageVersion
    author: str
    state: str


@staff_required((ADMIN,))
@require_safe
def text_page_list(request: HttpRequest) -> HttpResponse:
    """List the shop's pages of text."""
    now = current_time()
    pages = sorted(_get_pages().values(), key=lambda each: not each.is_required)
    lines = [
        (each, each.find_live(now) or (each.heads and each.heads[0]), each.find_live(now))
        for each in pages
    ]
    return render_page(request, "adminpanel/text_pages/pages.html", {"lines": lines, "now": now})


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def create_text_page(request: HttpRequest) -> HttpResponse:
    """Add a page of text. The slug that it is given first is its key."""
    return _edit(request, None)


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def text_page(request: HttpRequest, key: str) -> HttpResponse:
    """Show a page with its versions, and save its next version. `?use=3` begins with the third one."""
    return _edit(request, found_or_404(_get_pages().get(key), "page"))


def _edit(request: HttpRequest, page: TextPage | None) -> HttpResponse:
    key, saved = (page.key, page.saved) if page else ("", 0)
    if request.method != "POST":
        shown = _find_shown_version(request, page) if page else None
        return _show(request, page, TextPageForm(key, shown, saved))
    data = request.POST.dict() | {"version": get_seen_version(request.POST)}
    form = TextPageForm(key, None, saved, data)
    if not form.is_valid():
        return _show(request, page, form, 422)
    now = current_time()
    typed = form.build_version(current_member(request).user_id, now)
    if "preview" in request.POST:
        return _show(request, page, form, preview=draw_text(typed.text, localdate(now)))
    if page is None:
        key = typed.head.slug
        known = _get_pages().get(key)
        if key == _NEW or (known and known.saved == 0):
            return _refuse_address(request, form)
    try:
        after = operations.save_page(key, typed, now)
    except SettingChanged:
        if page is None:
            return _refuse_address(request, form)
        return _show(request, page, form, 409, conflict=_make_conflict(key, typed))
    except SettingRefused as refused:
        form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        return _show(request, page, form, 422)
    except SettingsBusy as busy:
        form.add_error(None, str(busy))
        return _show(request, page, form, 409)
    note_changes(request, {"version": str(saved)}, {"version": str(after.saved)})
    if typed.head.live_from > now:
        messages.success(request, _("Scheduled. It goes live at the chosen time."))
    else:
        messages.success(request, _("Published. Shoppers see it within seconds."))
    return redirect("adminpanel:text_page", key=key)


def _refuse_address(request: HttpRequest, form: TextPageForm) -> HttpResponse:
    """Refuse the address of a new page, which is its key: there must be no such key yet."""
    form.add_error("slug", _("This address is already used. Enter another one"))
    return _show(request, None, form, 422)


def _make_conflict(key: str, typed: PageVersion) -> Conflict:
    """Return the conflict with the last saved version."""
    last = queries.list_page_versions(key, _ABOVE_ALL, 1)[0]
    stored = queries.get_page_version(key, last.head.number)
    fields = compare_fields(describe_version(stored), describe_version(typed))
    (author,) = _list_authors([stored])
    return Conflict(author, stored.saved_at, str(stored.head.number), fields)


def _list_authors(versions: Sequence[PageVersion]) -> list[str]:
    """Return the names of those who saved these versions, in their order; "" for a text that came with the shop."""
    names = list_names({each.author_id for each in versions if each.author_id})
    return [names[each.author_id] if each.author_id else "" for each in versions]


def _find_shown_version(request: HttpRequest, page: TextPage) -> PageVersion | None:
    """Return the version with which the form begins: the one to use again, or the last one that is live or planned."""
    number = page.heads[-1].number if page.heads else page.saved
    with suppress(ValueError):
        number = int(request.GET.get("use", ""))
    try:
        return queries.get_page_version(page.key, number)
    except NoSuchPageVersion as error:
        raise Http404 from error


def _show(
    request: HttpRequest, page: TextPage | None, form: TextPageForm, status: int = 200, **more: Any
) -> HttpResponse:
    lines = _list_version_lines(request, page) if page else []
    last = lines[-1].version.head.number if lines else 0
    context = {
        "form": form,
        "page": page,
        "live": page.find_live(current_time()) if page else None,
        "lines": lines,
        "older_before": last if last > 1 else 0,
        "placeholders": form.placeholders.items(),
        **more,
    }
    return render_page(request, "adminpanel/text_pages/page.html", context, status=status)


def _list_version_lines(request: HttpRequest, page: TextPage) -> list[VersionLine]:
    """Return a part of a page's versions, newest first: those before `?before`, and in the end the one that came with the shop."""
    before = _ABOVE_ALL
    with suppress(ValueError):
        before = min(int(request.GET.get("before", "")), _ABOVE_ALL)
    versions = list(queries.list_page_versions(page.key, max(before, 0)))
    if page.is_required and len(versions) < queries.VERSIONS_AT_ONCE:
        versions.append(read_first_version(page.key))
    now = current_time()
    live, planned = page.find_live(now), {each.number for each in page.heads}

    def state(number: int) -> str:
        if number > page.saved:
            return LEFT
        if live and number == live.number:
            return LIVE
        return PLANNED if number in planned else FORMER

    return [
        VersionLine(each, author, state(each.head.number))
        for each, author in zip(versions, _list_authors(versions), strict=True)
    ]


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:text_page", "key")
def take_back_text_page(request: HttpRequest, key: str, number: int) -> HttpResponse:
    """Take back a version that is not live yet. It can be used again. Doing it twice changes nothing."""
    found_or_404(_get_pages().get(key), "page")
    try:
        page = operations.take_back_version(key, number, current_time())
    except (SettingRefused, SettingsBusy) as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:text_page", key=key)
    if any(each.number == number for each in page.heads):
        messages.error(request, _("This version is already live. Publish another one instead."))
    else:
        note_changes(request, {"version": str(number)}, {"version": ""})
        messages.success(request, _("Publication cancelled."))
    return redirect("adminpanel:text_page", key=key)


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:text_page", "key")
def switch_text_page(request: HttpRequest, key: str) -> HttpResponse:
    """Take a page offline (`offline` is "yes"), or put it online again."""
    page, is_offline = (
        found_or_404(_get_pages().get(key), "page"),
        bool(request.POST.get("offline")),
    )
    try:
        operations.set_offline(key, current_time(), is_offline=is_offline)
    except (SettingRefused, SettingsBusy) as refused:
        messages.error(request, str(refused))
    else:
        note_changes(request, {"offline": str(page.is_offline)}, {"offline": str(is_offline)})
        messages.success(
            request, _("The page is offline.") if is_offline else _("The page is online.")
        )
    return redirect("adminpanel:text_page", key=key)


def _get_pages() -> Mapping[str, TextPage]:
    return get_settings_at_quorum().get_values(TEXT_PAGES)
