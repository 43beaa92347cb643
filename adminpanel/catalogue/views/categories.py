"""Pages of categories: show the tree; add, change, move, order or remove a category."""

import re
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import CATALOGUE_STAFF
from adminpanel.catalogue.category_forms import CategoryForm, CategoryOrderForm
from adminpanel.catalogue.category_pages import (
    count_products,
    describe_category,
    describe_consequences,
    describe_node,
    describe_order,
    list_category_lines,
)
from adminpanel.catalogue.pins import PinsChanged, list_pin_lines
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.parameters import found_or_404
from cassandra_db import current_time
from catalogue import operations, queries
from catalogue.entities import CategoryNode, CategoryTree, Product
from catalogue.errors import CategoryChanged, CategoryRefused
from catalogue.operations import fingerprint_category
from web.decorators import get_or_post, post_only
from web.rendering import render_or_redirect, render_page

STEPS = {"up": -1, "down": 1}
_STEP = re.compile(r"-?[0-9]{1,4}")
# Below the pinned products, the page lists this many more products.
NEXT_SHOWN = 24


@staff_required(CATALOGUE_STAFF)
@require_safe
def category_tree(request: HttpRequest) -> HttpResponse:
    """Show all categories, each below its parent category."""
    return render_page(request, "adminpanel/catalogue/categories.html", _tree_context())


def _tree_context() -> dict[str, object]:
    return {"lines": list_category_lines(queries.get_category_tree_at_quorum())}


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:categories")
def move_category(request: HttpRequest) -> HttpResponse:
    """Move a category among its siblings by one place, or by more places if the user dragged it."""
    category_id, step = _parse_move(request.POST)
    node = _get_node(queries.get_category_tree_at_quorum(), category_id)
    direction = "up" if step < 0 else "down"
    try:
        has_moved = operations.reorder_category(node.category_id, step)
    except (CategoryChanged, CategoryRefused) as refused:
        messages.error(request, str(refused))
    else:
        if has_moved:
            note_changes(request, {}, {"name": node.name, "moved": direction})
            said = {"up": _("%(name)s moved up."), "down": _("%(name)s moved down.")}[direction]
        else:
            said = {
                "up": _("%(name)s is the first there already."),
                "down": _("%(name)s is the last there already."),
            }[direction]
        messages.success(request, said % {"name": node.name})
    return render_or_redirect(
        request,
        f"{reverse('adminpanel:categories')}#row-{node.category_id}",
        "adminpanel/catalogue/categories.html",
        _tree_context,
        part="tree",
    )


def _parse_move(sent: QueryDict) -> tuple[str, int]:
    """Return the id of the moved category ("" if there is none) and the number of places: -1 is one place up."""
    for name, step in STEPS.items():
        if name in sent:
            return sent.get(name, ""), step
    category_id, _space, text = sent.get("by", "").partition(" ")
    return (category_id, int(text)) if _STEP.fullmatch(text) else ("", 0)


@staff_required(CATALOGUE_STAFF)
@get_or_post
def create_category(request: HttpRequest) -> HttpResponse:
    """Add a category at the top of the tree, or below another category."""
    tree = queries.get_category_tree_at_quorum()
    form = CategoryForm(
        tree, None, request.POST or None, initial={"parent": request.GET.get("below", "")[:36]}
    )
    if request.method == "POST" and form.is_valid():
        try:
            node = _save(form)
        except CategoryRefused as refused:
            _show_refusal(form, refused)
        except CategoryChanged as changed:
            form.add_error(None, str(changed))
        else:
            note_changes(request, {}, describe_node(node))
            messages.success(request, _("%(name)s is added.") % {"name": node.name})
            return redirect(f"{reverse('adminpanel:categories')}#row-{node.category_id}")
    status = 422 if form.errors else 200
    return render_page(
        request, "adminpanel/catalogue/category_new.html", {"form": form}, status=status
    )


@staff_required(CATALOGUE_STAFF)
@get_or_post
def category_detail(request: HttpRequest, category_id: UUID) -> HttpResponse:
    """Show or save a category. If its parent or address would change, ask the user for confirmation first."""
    tree = queries.get_category_tree_at_quorum()
    node = _get_node(tree, category_id)
    if request.method != "POST":
        return _page(request, tree, node)
    seen = get_seen_version(request.POST)
    form = CategoryForm(
        tree, node, {**request.POST.dict(), "category_id": str(category_id), "version": seen}
    )
    if not form.is_valid():
        return _page(request, tree, node, form=form, status=422)
    if seen != fingerprint_category(node):
        return _conflict_page(request, tree, node, form)
    slug, parent_id = form.cleaned_data["slug"], form.parent_id
    confirmed = f"{slug} {form.cleaned_data['parent']}"
    try:
        operations.check_category(tree, node, slug, parent_id)
        consequences = describe_consequences(
            node, slug, tree.by_id[parent_id] if parent_id else None
        )
        if consequences and request.POST.get("confirmed") != confirmed:
            more = {"consequences": consequences, "confirmed": confirmed}
            return _page(request, tree, node, form=form, status=422, **more)
        saved = _save(form)
    except CategoryChanged:
        tree = queries.get_category_tree_at_quorum()
        return _conflict_page(request, tree, _get_node(tree, category_id), form)
    except CategoryRefused as refused:
        _show_refusal(form, refused)
        return _page(request, tree, node, form=form, status=422)
    note_changes(request, describe_node(node), describe_node(saved))
    messages.success(request, _("Saved %(name)s.") % {"name": saved.name})
    return redirect("adminpanel:category", category_id=category_id)


@staff_required(CATALOGUE_STAFF)
@get_or_post
def category_order(request: HttpRequest, category_id: UUID) -> HttpResponse:
    """Show or save the order of a category's products: pinned products first, the rest sorted by a rule."""
    node = _get_node(queries.get_category_tree_at_quorum(), category_id)
    if request.method != "POST":
        return _order_page(request, node, CategoryOrderForm.of(node.order))
    form = CategoryOrderForm.of(node.order, request.POST)
    if not form.is_valid():
        return _order_page(request, node, form, 422)
    try:
        saved = operations.order_category_products(category_id, form.apply_to_order)
    except PinsChanged as changed:
        node = _get_node(queries.get_category_tree_at_quorum(), category_id)
        form = form.rebased_to(node.order)
        form.add_error(None, str(changed))
        return _order_page(request, node, form, 409)
    except CategoryChanged as changed:
        raise Http404("no such category") from changed
    except CategoryRefused as refused:
        form.add_error(None, str(refused))
        return _order_page(request, node, form, 422)
    note_changes(request, describe_order(node.order), describe_order(saved.order))
    messages.success(request, _("Saved. Shoppers see it within a few minutes."))
    return render_or_redirect(
        request,
        reverse("adminpanel:category_order", args=(category_id,)),
        "adminpanel/catalogue/category_order.html",
        lambda: _order_context(saved, CategoryOrderForm.of(saved.order)),
        part="order",
    )


def _order_page(
    request: HttpRequest, node: CategoryNode, form: CategoryOrderForm, status: int = 200
) -> HttpResponse:
    template, context = "adminpanel/catalogue/category_order.html", _order_context(node, form)
    return render_page(request, template, context, part="order", status=status)


def _order_context(node: CategoryNode, form: CategoryOrderForm) -> dict[str, object]:
    pinned_ids, ids_below = form.pinned, {each.category_id for each in node.subtree}

    def why_hidden(product: Product) -> str:
        return "" if ids_below & set(product.all_category_ids) else _("Not in this category")

    cards = queries.get_category_page(
        node.category_id, node.order.rule, limit=NEXT_SHOWN + len(pinned_ids)
    ).cards
    return {
        "node": node,
        "form": form,
        "lines": list(list_pin_lines(form, current_time(), why_hidden)),
        "next_cards": [each for each in cards if each.product_id not in pinned_ids][:NEXT_SHOWN],
    }


def _save(form: CategoryForm) -> CategoryNode:
    clean = form.cleaned_data
    return operations.save_category(
        category_id=clean["category_id"],
        slug=clean["slug"],
        name=clean["name"],
        parent_id=form.parent_id,
        description=clean["description"],
        seen=clean["version"],
    )


def _conflict_page(
    request: HttpRequest, tree: CategoryTree, saved: CategoryNode, form: CategoryForm
) -> HttpResponse:
    """Show the page again after a conflict: the saved and the typed values side by side, with status 409."""
    clean = form.cleaned_data
    parent = tree.by_id.get(form.parent_id) if form.parent_id else None
    typed = describe_category(clean["name"], clean["slug"], parent, clean["description"])
    fields = compare_fields(describe_node(saved), typed)
    conflict = Conflict("", None, fingerprint_category(saved), fields)
    return _page(request, tree, saved, form=form, status=409, conflict=conflict)


@staff_required(CATALOGUE_STAFF)
@post_only("adminpanel:category", "category_id")
def remove_category(request: HttpRequest, category_id: UUID) -> HttpResponse:
    """Remove a category that has no products or subcategories."""
    node = _get_node(queries.get_category_tree_at_quorum(), category_id)
    count = count_products([node]).get(category_id)
    try:
        if count:
            raise CategoryRefused(_count_text(count))
        operations.remove_category(category_id, request.POST.get("version", ""))
    except CategoryChanged as changed:
        messages.error(request, str(changed))
        tree = queries.get_category_tree_at_quorum()
        return _page(request, tree, _get_node(tree, category_id), status=409)
    except CategoryRefused as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:category", category_id=category_id)
    note_changes(request, {"name": node.name}, {"name": ""})
    messages.success(request, _("%(name)s is removed.") % {"name": node.name})
    return redirect("adminpanel:categories")


def _count_text(count: int) -> str:
    return ngettext(
        "%(count)s product is in it or below it. Move it to another category first.",
        "%(count)s products are in it or below it. Move them to another category first.",
        count,
    ) % {"count": count}


def _get_node(tree: CategoryTree, category_id: UUID | str) -> CategoryNode:
    node = next((each for key, each in tree.by_id.items() if str(key) == str(category_id)), None)
    return found_or_404(node, "category")


def _show_refusal(form: CategoryForm, refused: CategoryRefused) -> None:
    """Add the reason of a refusal to its field's errors, or else to the errors of the whole form."""
    form.add_error(refused.field if refused.field in form.fields else None, str(refused))


def _page(
    request: HttpRequest,
    tree: CategoryTree,
    node: CategoryNode,
    *,
    form: CategoryForm | None = None,
    status: int = 200,
    **more: object,
) -> HttpResponse:
    context = {
        "node": node,
        "form": form or CategoryForm.of(tree, node),
        "version": fingerprint_category(node),
        "product_count": count_products([node]).get(node.category_id),
        **more,
    }
    return render_page(request, "adminpanel/catalogue/category.html", context, status=status)
