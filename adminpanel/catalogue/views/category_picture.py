"""Pages of a category's picture: upload, describe, replace, remove or restore it."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.picture_forms import CategoryPictureForm
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.parameters import found_or_404
from adminpanel.picture_uploads import (
    MAX_FILES,
    list_ready_pictures,
    page_uploads,
    refuse_count,
    remove_uploads,
    take_in_files,
)
from catalogue import operations, queries
from catalogue.entities import CategoryNode, PictureUpload
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import fingerprint_category_picture
from catalogue.photos import MAX_PHOTO_BYTES
from web.decorators import get_or_post, post_only
from web.rendering import render_page
from web.uploads import takes_files

_FORMER_SALT = "adminpanel.category_picture.former"
_FORMER_SECONDS = 24 * 3600


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@get_or_post
def category_picture(request: HttpRequest, category_id: UUID) -> HttpResponse:
    """Show a category's picture and uploads. Set or remove the picture that shoppers see."""
    node, uploads = _get_node(category_id), queries.list_uploads(category_id)
    if request.method != "POST":
        return _page(request, node, uploads)
    if "dismiss" in request.POST:
        found = [each for each in uploads if str(each.upload_id) == request.POST["dismiss"]]
        pictures = {each.picture for each in found} - {""}
        remove_uploads(each for each in uploads if each in found or each.picture in pictures)
        return redirect("adminpanel:category_picture", category_id=category_id)
    form = None if "remove" in request.POST else CategoryPictureForm(node, request.POST)
    if form and not form.is_valid():
        return _page(request, node, uploads, form=form, status=422)
    picture, alt = (form.text, form.cleaned_data["alt"]) if form else ("", "")
    try:
        saved = operations.save_category_picture(
            category_id, picture, alt, get_seen_version(request.POST)
        )
    except CategoryChanged as changed:
        saved = found_or_404(changed.category, "category")
        return _conflict_page(request, saved, uploads, form)
    except CategoryRefused as refused:
        if form is None:
            messages.error(request, str(refused))
        else:
            form.add_error(refused.field or None, str(refused))
        return _page(request, node, uploads, form=form, status=422)
    # The uploads are removed only now, because after a refusal the page shows them once more.
    remove_uploads(each for each in uploads if each.picture and each.picture == picture)
    note_changes(request, _describe(node.picture, node.picture_alt), _describe(picture, alt))
    messages.success(
        request, _("Saved. Shoppers see it within a minute.") if picture else _("Removed.")
    )
    address = reverse("adminpanel:category_picture", args=(category_id,))
    if node.picture not in ("", saved.picture):
        address += f"?{urlencode({'former': _sign_former(node)})}"
    return redirect(address)


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@takes_files(MAX_PHOTO_BYTES)
@post_only("adminpanel:category_picture", "category_id")
def upload_category_pictures(request: HttpRequest, category_id: UUID) -> HttpResponse:
    """Store the uploaded files of a category until the worker decodes them."""
    node, files = _get_node(category_id), request.FILES.getlist("files")
    uploads = queries.list_uploads(category_id)
    if error := refuse_count(len(files)) or _refuse_more(len(files), uploads):
        return _page(request, node, uploads, upload_error=error, status=422)
    take_in_files(request, category_id, files)
    return redirect("adminpanel:category_picture", category_id=category_id)


def _refuse_more(count: int, uploads: Sequence[PictureUpload]) -> str:
    waiting = sum(each.state == "waiting" for each in uploads)
    if len(list_ready_pictures(uploads)) + waiting + count > MAX_FILES:
        return _("Up to %(most)d pictures can wait here. Discard some first.") % {"most": MAX_FILES}
    return ""


def _get_node(category_id: UUID) -> CategoryNode:
    return found_or_404(queries.get_category_tree_at_quorum().by_id.get(category_id), "category")


def _page(
    request: HttpRequest,
    node: CategoryNode,
    uploads: Sequence[PictureUpload],
    *,
    form: CategoryPictureForm | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    """Return the page of a category's picture. A submitted `form` replaces the form of the same picture."""
    address = reverse("adminpanel:category_picture", args=(node.category_id,))
    rows = _list_rows(node, uploads, form)
    context = {
        "own_url": address,
        "uploads": page_uploads(
            request,
            uploads,
            address,
            reverse("adminpanel:category_upload", args=(node.category_id,)),
        ),
        "node": node,
        "form": form,
        "rows": rows,
        "has_new": any(not each["form"].is_shown for each in rows),
        "version": fingerprint_category_picture(node),
        "former": _read_former(node, request.GET.get("former", "")),
        **more,
    }
    return render_page(
        request,
        "adminpanel/catalogue/category_picture.html",
        context,
        part="uploads",
        status=status,
    )


def _list_rows(
    node: CategoryNode, uploads: Sequence[PictureUpload], sent: CategoryPictureForm | None
) -> list[dict[str, Any]]:
    """Return the category's pictures, the present one first: each with its form and its upload, if any."""
    uploads_by_picture = {each.picture: each for each in uploads if each.state == "ready"}
    forms = {
        each: CategoryPictureForm.of(node, each, node.picture_alt if each == node.picture else "")
        for each in dict.fromkeys((node.picture, *uploads_by_picture))
        if each
    }
    if sent and sent.text:
        forms[sent.text] = sent
        sent.is_shown = sent.text == node.picture
    return [
        {"form": each, "upload": uploads_by_picture.get(picture)} for picture, each in forms.items()
    ]


def _conflict_page(
    request: HttpRequest,
    node: CategoryNode,
    uploads: Sequence[PictureUpload],
    form: CategoryPictureForm | None,
) -> HttpResponse:
    """Show the page again after a conflict, with status 409: the saved and the typed values of `form`, if there is one."""
    if form is None:
        messages.error(request, _("Someone else has changed this. Nothing was removed."))
        return _page(request, node, uploads, status=409)
    fields = compare_fields(
        _describe(node.picture, node.picture_alt), _describe(form.text, form.cleaned_data["alt"])
    )
    conflict = Conflict("", None, fingerprint_category_picture(node), fields)
    return _page(request, node, uploads, form=form, conflict=conflict, status=409)


def _describe(picture: str, alt: str) -> dict[str, str]:
    """Return the picture and its text in words, for a conflict and for the audit log."""
    return {_("Picture"): picture, _("Alt text"): alt}


def _sign_former(node: CategoryNode) -> str:
    content = [str(node.category_id), node.picture, node.picture_alt]
    return signing.dumps(content, salt=_FORMER_SALT, compress=True)


def _read_former(node: CategoryNode, token: str) -> CategoryPictureForm | None:
    """Return the form that restores the former picture that a token contains. Return None if the token is not valid.

    The token must be recent and made for this category. Its picture must differ from the present one.
    """
    try:
        category_id, picture, alt = signing.loads(token, salt=_FORMER_SALT, max_age=_FORMER_SECONDS)
    except signing.BadSignature:
        return None
    if category_id != str(node.category_id) or picture == node.picture:
        return None
    form = CategoryPictureForm.of(node, picture, alt)
    # If the same picture was uploaded again, its row would have the same ids.
    form.auto_id = False
    return form
