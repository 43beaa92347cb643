"""Pages of promotions: list, create, change, duplicate, end or resume them."""

from datetime import datetime

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.parameters import found_or_404
from adminpanel.promotions.forms import (
    FIELDS_BY_KIND,
    KIND_LABELS,
    PromotionChangeForm,
    PromotionForm,
    get_version,
)
from adminpanel.promotions.pages import get_promotion_line, list_promotion_lines
from cassandra_db import current_time
from jobs.minutes import parse_moment
from promotions import operations, queries
from promotions.errors import CodeTaken, PromotionRefused
from promotions.queries import AUTOMATIC, CODE
from promotions.rules import Promotion
from web.decorators import get_or_post, post_only
from web.rendering import render_page


@staff_required(("catalogue",))
@require_safe
def promotion_list(request: HttpRequest) -> HttpResponse:
    """List all promotions."""
    return _show_list(request)


@staff_required(("catalogue",))
@get_or_post
def create_promotion(request: HttpRequest, kind: str) -> HttpResponse:
    """Create a promotion of a kind, with or without a code."""
    if kind not in FIELDS_BY_KIND:
        raise Http404("no such kind of promotion")
    return _create(request, PromotionForm(kind, _get_posted(request)))


@staff_required(("catalogue",))
@get_or_post
def duplicate_promotion(request: HttpRequest, trigger: str, name: str) -> HttpResponse:
    """Create a promotion from another one's terms. The other one ends when the new one is saved."""
    found = found_or_404(queries.get_promotion(trigger, name), "promotion")
    return _create(request, PromotionForm(found.kind, _get_posted(request), replaces=found))


def _create(request: HttpRequest, form: PromotionForm) -> HttpResponse:
    if form.is_valid():
        now, old = current_time(), form.replaces
        try:
            terms, key = form.build_terms(), form.cleaned_data["key"].hex
            operations.create_promotion(terms, now, key, replaces=old)
        except CodeTaken as taken:
            form.add_error("voucher", str(taken))
        except PromotionRefused as refused:
            form.add_error(None, str(refused))
        else:
            said = _("Promotion %(name)s created.")
            if old and _has_ended(old, now):
                note_changes(request, {"ends": old.ends_at or "never"}, {"ends": now})
                said = _("Promotion %(name)s created. %(old)s has ended.")
            names = {"name": terms.title, "old": old.capitalized_name if old else ""}
            messages.success(request, said % names)
            return redirect("adminpanel:promotions")
    context = {"form": form, "kind_label": KIND_LABELS[form.kind]}
    status = 422 if form.is_bound else 200
    return render_page(request, "adminpanel/promotions/promotion_new.html", context, status=status)


def _has_ended(old: Promotion, now: datetime) -> bool:
    """Return whether the replaced promotion was ended at this moment. A repeated form ends nothing."""
    found = queries.get_promotion(CODE if old.code else AUTOMATIC, old.key)
    return found is not None and found.ended_at == now


@staff_required(("catalogue",))
@get_or_post
def promotion_detail(request: HttpRequest, trigger: str, name: str) -> HttpResponse:
    """Show a promotion; change its name and end, and raise its limits."""
    found = found_or_404(queries.get_promotion(trigger, name), "promotion")
    form = PromotionChangeForm(found, _get_posted(request))
    conflict, status = None, 200
    if form.is_bound and not form.is_valid():
        status = 422
    elif form.is_bound:
        new, seen = form.build(), get_seen_version(request.POST)
        if seen == get_version(found) and operations.change_promotion(trigger, found, new):
            changed = PromotionChangeForm(new)
            note_changes(request, PromotionChangeForm(found).describe(), changed.describe())
            messages.success(request, _("Promotion %(name)s saved.") % {"name": new.title})
            return redirect("adminpanel:promotions")
        found = found_or_404(queries.get_promotion(trigger, name), "promotion")
        fields = compare_fields(PromotionChangeForm(found).describe(), form.describe())
        conflict, status = Conflict("", None, get_version(found), fields), 409
    context = {
        "form": form,
        "line": get_promotion_line(trigger, found, current_time()),
        "conflict": conflict,
    }
    return render_page(request, "adminpanel/promotions/promotion.html", context, status=status)


@staff_required(("catalogue",))
@post_only("adminpanel:promotions")
def end_promotion(request: HttpRequest, trigger: str, name: str) -> HttpResponse:
    """End a promotion now. Orders that already have its discount keep it."""
    found = found_or_404(queries.get_promotion(trigger, name), "promotion")
    now = current_time()
    if operations.end_promotion(trigger, name, now):
        note_changes(request, {"ends": found.ends_at or "never"}, {"ends": now})
        said = _("Promotion %(name)s ended. You can resume it from the list.")
    else:
        said = _("Promotion %(name)s had already been ended.")
    messages.success(request, said % {"name": found.title})
    return redirect("adminpanel:promotions")


@staff_required(("catalogue",))
@post_only("adminpanel:promotions")
def resume_promotion(request: HttpRequest, trigger: str, name: str) -> HttpResponse:
    """Undo the end of a promotion that the page showed. The dates in the promotion's terms stay."""
    found = found_or_404(queries.get_promotion(trigger, name), "promotion")
    ended_at = parse_moment(request.POST.get("ended_at", ""))
    can_resume = ended_at and found.can_resume(current_time())
    if not (ended_at and can_resume and operations.resume_promotion(trigger, name, ended_at)):
        said = _("Someone else has changed promotion %(name)s. This is its current state.")
        messages.error(request, said % {"name": found.title})
        return _show_list(request, status=409)
    note_changes(request, {"ends": ended_at}, {"ends": found.ends_at or "never"})
    messages.success(request, _("Promotion %(name)s resumed.") % {"name": found.title})
    return redirect("adminpanel:promotions")


def _get_posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def _show_list(request: HttpRequest, status: int = 200) -> HttpResponse:
    context = {
        "promotions": list_promotion_lines(current_time()),
        "kinds": list(KIND_LABELS.items()),
    }
    return render_page(request, "adminpanel/promotions/promotions.html", context, status=status)
