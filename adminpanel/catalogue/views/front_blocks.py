"""The blocks of the front page: their list with its order, and the form of each."""

import re
from collections.abc import Mapping
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.front_block_forms import FrontBlockForm
from adminpanel.parameters import found_or_404
from adminpanel.settings.editing import edit_setting, get_posted, show_setting
from cassandra_db import current_time
from catalogue.front_page import (
    FRONT_BLOCKS,
    MAX_BLOCKS,
    Block,
    BlockKind,
    get_block_kinds,
    move_block,
    sort_blocks,
)
from shop_settings.errors import SettingChanged, SettingRefused, SettingsBusy
from shop_settings.operations import change_settings, remove_setting
from shop_settings.queries import get_settings_at_quorum
from web.decorators import get_or_post, post_only
from web.rendering import render_page

LIST = "adminpanel:front_page"
_MOVE = re.compile(r"([a-z0-9-]{1,40}) (-?[0-9]{1,2})")


@staff_required(CATALOGUE_STAFF)
@require_safe
def front_page(request: HttpRequest) -> HttpResponse:
    """Show the blocks of the front page in their order, and a form that previews the page at a time."""
    kinds, now = get_block_kinds(), current_time()
    blocks = sort_blocks(_get_blocks())
    lines = [
        (block, kind.label, dict(kind.sources).get(block.source, ""), block.is_shown(now))
        for block in blocks
        for kind in [_kind_of(block)]
    ]
    context = {"lines": lines, "kinds": kinds.values(), "now": now, "most": MAX_BLOCKS}
    return render_page(request, "adminpanel/catalogue/front_blocks.html", context)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only(LIST)
def move_front_block(request: HttpRequest) -> HttpResponse:
    """Move a block by the step that a button or a drop sends: "<key> <step>"."""
    if not (found := _MOVE.fullmatch(request.POST.get("by", ""))):
        return redirect(LIST)
    key, step = found[1], int(found[2])
    try:
        change_settings(FRONT_BLOCKS, lambda blocks: move_block(blocks, key, step), current_time())
    except SettingsBusy as busy:
        messages.error(request, str(busy))
    else:
        note_changes(request, {}, {"block": key, "moved": step})
    return redirect(f"{reverse(LIST)}#row-{key}")


def _get_blocks() -> Mapping[str, Block]:
    return get_settings_at_quorum().get_values(FRONT_BLOCKS)


def _find_end(blocks: Mapping[str, Block]) -> int:
    return max((each.position for each in blocks.values()), default=0) + 1


def _kind_of(block: Block) -> BlockKind:
    """Return a block's kind. A block whose app is gone has no fields, but can be moved and removed."""
    return get_block_kinds().get(block.kind) or BlockKind(block.kind, block.kind, "", ())


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def create_front_block(request: HttpRequest, kind: str) -> HttpResponse:
    """Add a block of a kind at the end of the page."""
    block_kind = found_or_404(get_block_kinds().get(kind), "kind of block")
    form = FrontBlockForm(None, block_kind, get_posted(request))
    form.position = _find_end(_get_blocks())
    key = (form.cleaned_data["key"] or uuid4()).hex if form.is_valid() else ""
    return edit_setting(request, form, key, LIST, block_kind=block_kind)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def front_block(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change a block. If somebody else removed it, saving is a conflict; saving once more restores it at the end."""
    blocks = _get_blocks()
    block = blocks.get(key)
    if block is None and request.method != "POST":
        raise Http404("no such block")
    sent = get_block_kinds().get(request.POST.get("block_kind", ""))
    block_kind = _kind_of(block) if block else found_or_404(sent, "kind of block")
    form = FrontBlockForm(block, block_kind, get_posted(request))
    form.position = _find_end(blocks)
    return edit_setting(request, form, key, LIST, block_kind=block_kind)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@post_only("adminpanel:front_block", "key")
def remove_front_block(request: HttpRequest, key: str) -> HttpResponse:
    """Remove a block, unless somebody has changed it meanwhile."""
    block = _get_blocks().get(key)
    if block is None:
        return redirect(LIST)  # the form was sent twice
    block_kind = _kind_of(block)
    form = FrontBlockForm(block, block_kind)
    try:
        remove_setting(FRONT_BLOCKS, key, request.POST.get("version", ""), current_time())
    except SettingChanged as changed:
        messages.error(request, str(changed))
        return show_setting(request, form, key, status=409, block_kind=block_kind)
    except (SettingRefused, SettingsBusy) as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:front_block", key=key)
    note_changes(request, form.describe(), {})
    messages.success(request, _("The block is removed."))
    return redirect(LIST)
