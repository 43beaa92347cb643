"""Pages of a product's pictures: upload, describe, sort and remove them."""

from collections.abc import Iterable, Sequence
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
from adminpanel.catalogue.picture_forms import PicturesForm, list_new_pictures, rearrange
from adminpanel.catalogue.rendering import get_product_or_404
from adminpanel.conflicts import Conflict, compare_fields
from adminpanel.picture_uploads import page_uploads, refuse_count, remove_uploads, take_in_files
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import PictureUpload, Product, ProductPicture
from catalogue.errors import ProductChanged, ProductRefused
from catalogue.photos import MAX_PHOTO_BYTES
from catalogue.rules import MAX_PICTURES
from catalogue.variants import fingerprint_pictures
from web.decorators import get_or_post, post_only
from web.rendering import render_page
from web.uploads import takes_files

_UNDO_SALT = "adminpanel.pictures.undo"
_UNDO_SECONDS = 24 * 3600


@staff_required(CATALOGUE_STAFF, lists=("picture",), is_about_people=False)
@get_or_post
def product_pictures(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Show a product's pictures and uploads, and save changes to the pictures."""
    product, uploads = get_product_or_404(product_id), queries.list_uploads(product_id)
    if request.method != "POST":
        return _page(request, product, uploads)
    if "undo" in request.POST:
        return _put_back(request, product)
    if "dismiss" in request.POST:
        remove_uploads(each for each in uploads if str(each.upload_id) == request.POST["dismiss"])
        return redirect("adminpanel:product_pictures", product_id=product_id)
    form = PicturesForm.sent(product, uploads, request.POST)
    if not form.is_valid():
        return _page(request, product, uploads, form=form, status=422)
    act, _space, picture = request.POST.get("act", "save").partition(" ")
    pictures: Sequence[ProductPicture] = form.typed_entries()
    if act != "save":
        pictures = rearrange(pictures, act, picture)
    try:
        shown = set(request.POST.getlist("picture"))
        saved = operations.save_pictures(product_id, pictures, shown, form.version, current_time())
    except ProductChanged as changed:
        return _conflict_page(request, changed.product or product, uploads, form)
    except ProductRefused as refused:
        form.add_error(None, str(refused))
        return _page(request, product, uploads, form=form, status=422)
    done = {each.picture for each in saved.pictures}
    if act == "remove":
        done.add(picture)
    # The uploads are removed only now, because a refused form is shown once more with its uploads.
    remove_uploads(each for each in uploads if each.picture in done)
    note_changes(request, _describe(product.pictures), _describe(saved.pictures))
    messages.success(request, _("Removed.") if act == "remove" else _("Saved."))
    query = ""
    if act == "remove" and picture in {each.picture for each in product.pictures}:
        query = f"?{urlencode({'undo': _undo_token(product, picture)})}"
    return redirect(f"{reverse('adminpanel:product_pictures', args=(product_id,))}{query}")


@staff_required(CATALOGUE_STAFF, is_about_people=False)
@takes_files(MAX_PHOTO_BYTES)
@post_only("adminpanel:product_pictures", "product_id")
def upload_pictures(request: HttpRequest, product_id: UUID) -> HttpResponse:
    """Store the uploaded files of a product until the worker decodes them."""
    product, files = get_product_or_404(product_id), request.FILES.getlist("files")
    uploads = queries.list_uploads(product_id)
    if error := _refuse_count(len(files), product, uploads):
        return _page(request, product, uploads, upload_error=error, status=422)
    take_in_files(request, product_id, files)
    return redirect("adminpanel:product_pictures", product_id=product_id)


def _refuse_count(count: int, product: Product, uploads: Sequence[PictureUpload]) -> str:
    """Return a sentence that says why this number of uploaded files is refused, or "" if it is accepted."""
    if refused := refuse_count(count):
        return refused
    # Pictures that the product did not take are counted too, because the page sends a field for each of them.
    waiting = sum(each.state == "waiting" for each in uploads)
    if (
        len(product.pictures) + len(list_new_pictures(product, uploads)) + waiting + count
        > MAX_PICTURES
    ):
        return _(
            "A product has at most %(most)d pictures, including uploaded ones. Remove some first."
        ) % {"most": MAX_PICTURES}
    return ""


def _page(
    request: HttpRequest,
    product: Product,
    uploads: Sequence[PictureUpload],
    *,
    form: PicturesForm | None = None,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    form = form or PicturesForm.of(product, uploads)
    undo = request.GET.get("undo", "")
    address = reverse("adminpanel:product_pictures", args=(product.product_id,))
    upload_address = reverse("adminpanel:product_upload", args=(product.product_id,))
    context = {
        "own_url": address,
        "uploads": page_uploads(request, uploads, address, upload_address),
        "product": product,
        "form": form,
        "rows": form.rows,
        "has_new": any(each.is_unconfirmed for each in form.rows),
        "undo": undo if _read_undo(product, undo) else "",
        **more,
    }
    return render_page(
        request,
        "adminpanel/catalogue/product_pictures.html",
        context,
        part="uploads",
        status=status,
    )


def _conflict_page(
    request: HttpRequest, product: Product, uploads: Sequence[PictureUpload], form: PicturesForm
) -> HttpResponse:
    """Show the page again after a conflict: the saved and the typed pictures side by side, with status 409."""
    typed = [*form.typed_entries(), *form.gone]
    fields = compare_fields(_describe(product.pictures), _describe(typed))
    shown = {each.picture for each in form.entries}
    version = fingerprint_pictures([each for each in product.pictures if each.picture in shown])
    conflict = Conflict("", product.updated_at, version, fields)
    return _page(request, product, uploads, form=form, conflict=conflict, status=409)


def _describe(pictures: Iterable[ProductPicture]) -> dict[str, str]:
    """Return the texts of the pictures, in the order of the pictures."""
    return {_("Pictures"): "\n".join(each.alt for each in pictures)}


def _undo_token(product: Product, picture: str) -> str:
    """Return a token that restores a removed picture: its place, its text, and the variants that showed it."""
    place = [each.picture for each in product.pictures].index(picture)
    variants = [str(each.variant_id) for each in product.variants if each.picture == picture]
    content = [str(product.product_id), place, picture, product.pictures[place].alt, variants]
    return signing.dumps(content, salt=_UNDO_SALT, compress=True)


def _read_undo(product: Product, token: str) -> list[Any]:
    """Return the content of a token that restores a picture. Return [] if it is invalid, too old or already used."""
    try:
        product_id, *content = signing.loads(token, salt=_UNDO_SALT, max_age=_UNDO_SECONDS)
    except signing.BadSignature:
        return []
    is_there = any(each.picture == content[1] for each in product.pictures)
    return [] if product_id != str(product.product_id) or is_there else content


def _put_back(request: HttpRequest, product: Product) -> HttpResponse:
    """Restore a picture that was removed from a product."""
    if undo := _read_undo(product, request.POST["undo"]):
        place, picture, alt, variants = undo
        entry = ProductPicture(picture, alt)
        try:
            operations.put_picture_back(
                product.product_id, entry, place, {UUID(each) for each in variants}, current_time()
            )
        except (ProductChanged, ProductRefused) as refused:
            messages.error(request, str(refused))
        else:
            note_changes(request, {}, {"pictures": alt})
            messages.success(request, _("The picture is back."))
    return redirect("adminpanel:product_pictures", product_id=product.product_id)
