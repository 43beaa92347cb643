"""The page of the shop's brand: its form with a preview, its pictures, and the earlier brands."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import current_member, note_changes, staff_required
from accounts.roles import ADMIN
from adminpanel.names import list_names
from adminpanel.parameters import found_or_404
from adminpanel.picture_uploads import (
    MAX_FILES,
    list_ready_pictures,
    page_uploads,
    refuse_count,
    remove_uploads,
    take_in_files,
)
from adminpanel.settings.brand_forms import PICTURES, BrandForm
from adminpanel.settings.editing import edit_setting, get_posted
from cassandra_db import current_time
from catalogue.operations.picture_uploads import CLEAR
from catalogue.photos import MAX_PHOTO_BYTES
from catalogue.queries import list_uploads
from shop_settings.brand import BRAND, KEY, UPLOADS_OWNER, Brand, find_brand
from shop_settings.brand_history import SavedBrand, list_saved_brands, save_brand
from shop_settings.errors import SettingChanged, SettingsBusy
from shop_settings.kinds import SettingKind
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post, post_only
from web.rendering import render_page
from web.uploads import takes_files

# How many pictures the form offers.
MAX_OFFERED = 20


class BrandPage:
    """The page's data, as they were when it was asked for."""

    def __init__(self, request: HttpRequest, data: QueryDict | None = None) -> None:
        self.request = request
        settings = get_settings_at_quorum()
        self.brand, self.saved = find_brand(settings), list_saved_brands(settings)
        self.uploads = list_uploads(UPLOADS_OWNER)
        self.form = BrandForm(self.brand, data, list(self._list_pictures()))

    def _list_pictures(self) -> Iterator[str]:
        """Yield the pictures to choose from: the brand's own, the uploaded ones, and those of earlier brands."""
        earlier = [picture for saved in self.saved for picture in _list_used(saved.brand)]
        found = dict.fromkeys(
            (*_list_used(self.brand), *list_ready_pictures(self.uploads), *earlier)
        )
        yield from list(found)[:MAX_OFFERED]

    def make_context(self) -> dict[str, Any]:
        """Return what the page shows beside its form."""
        address, upload = reverse("adminpanel:brand"), reverse("adminpanel:brand_upload")
        used = _list_used(self.brand)
        return {
            "uploads": page_uploads(self.request, self.uploads, address, upload),
            "spare": [each for each in self.uploads if each.picture and each.picture not in used],
            "preview": self.form.build_preview(),
            "saved_brands": _describe_saved(self.saved),
            "version": BRAND.fingerprint(self.brand),
        }

    def show(self, part: str, status: int = 200, **more: Any) -> HttpResponse:
        """Return the page, or its part if htmx asks for it."""
        context = {"form": self.form, **self.make_context(), **more}
        return render_page(self.request, self.form.template, context, part=part, status=status)


def _list_used(brand: Brand) -> list[str]:
    return [picture for name in PICTURES if (picture := getattr(brand, name))]


def _describe_saved(saved: Sequence[SavedBrand]) -> list[tuple[SavedBrand, str]]:
    """Return the saved brands, each with the name of who saved it."""
    names = list_names({each.user_id for each in saved if each.user_id})
    return [(each, names[each.user_id] if each.user_id else "") for each in saved]


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def brand(request: HttpRequest) -> HttpResponse:
    """Show or save the brand. Discard an uploaded picture."""
    page = BrandPage(request, get_posted(request))
    if request.method != "POST":
        return page.show("uploads")
    if "dismiss" in request.POST:
        remove_uploads(
            each for each in page.uploads if str(each.upload_id) == request.POST["dismiss"]
        )
        return redirect("adminpanel:brand")

    def save(kind: SettingKind[Brand], key: str, value: Brand, seen: str, now: datetime) -> None:
        save_brand(value, seen, current_member(request).user_id, now)
        remove_uploads(each for each in page.uploads if each.picture in _list_used(value))

    return edit_setting(
        request, page.form, KEY, "adminpanel:brand", save=save, **page.make_context()
    )


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:brand")
def preview_brand(request: HttpRequest) -> HttpResponse:
    """Show the front page's head as the typed brand would make it look. Nothing is saved."""
    page = BrandPage(request, request.POST)
    return page.show("preview", 200 if page.form.is_valid() else 422)


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:brand")
def restore_brand(request: HttpRequest) -> HttpResponse:
    """Use an earlier brand again. If somebody else has saved one meanwhile, nothing changes."""
    page = BrandPage(request)
    found = {each.key: each.brand for each in page.saved}.get(request.POST.get("key", ""))
    earlier = found_or_404(found, "brand")
    try:
        save_brand(
            earlier,
            request.POST.get("version", ""),
            current_member(request).user_id,
            current_time(),
        )
    except (SettingChanged, SettingsBusy) as error:
        messages.error(request, str(error))
        return page.show("", 409)
    note_changes(request, page.form.describe(), BrandForm(earlier).describe())
    messages.success(request, str(page.form.saved_text))
    return redirect("adminpanel:brand")


@staff_required((ADMIN,), is_about_people=False)
@takes_files(MAX_PHOTO_BYTES)
@post_only("adminpanel:brand")
def upload_brand_pictures(request: HttpRequest) -> HttpResponse:
    """Store uploaded pictures until the worker has decoded them."""
    page, files = BrandPage(request), request.FILES.getlist("files")
    waiting = sum(each.state == "waiting" for each in page.uploads)
    error = refuse_count(len(files))
    if not error and len(list_ready_pictures(page.uploads)) + waiting + len(files) > MAX_FILES:
        error = _("Up to %(most)d pictures can wait here. Discard some first.") % {
            "most": MAX_FILES
        }
    if error:
        return page.show("", 422, upload_error=error)
    take_in_files(request, UPLOADS_OWNER, files, salt=CLEAR)
    return redirect("adminpanel:brand")
