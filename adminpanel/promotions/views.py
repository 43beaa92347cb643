"""Pages of promotions: list, create, end or resume them."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from adminpanel.parameters import found_or_404
from adminpanel.promotions.forms import PromotionForm
from adminpanel.promotions.pages import list_promotion_lines
from cassandra_db import current_time
from jobs.minutes import parse_moment
from promotions import operations, queries
from promotions.errors import CodeTaken, PromotionRefused
from web.decorators import post_only
from web.rendering import render_page


@staff_required(("catalogue",))
@require_safe
def promotion_list(request: HttpRequest) -> HttpResponse:
    """Show all promotions, and the form of a new one."""
    return _page(request, PromotionForm())


@staff_required(("catalogue",))
@post_only("adminpanel:promotions")
def create_promotion(request: HttpRequest) -> HttpResponse:
    """Create a promotion with or without a code."""
    form = PromotionForm(request.POST)
    if form.is_valid():
        try:
            operations.create_promotion(form.build_terms(), current_time())
        except CodeTaken as taken:
            form.add_error("voucher", str(taken))
        except PromotionRefused as refused:
            form.add_error(None, str(refused))
        else:
            said = _("Promotion %(name)s created.") % {"name": form.cleaned_data["title"]}
            messages.success(request, said)
            return redirect("adminpanel:promotions")
    return _page(request, form, status=422)


@staff_required(("catalogue",))
@post_only("adminpanel:promotions")
def end_promotion(request: HttpRequest, trigger: str, name: str) -> HttpResponse:
    """End a promotion now. Orders that already have its discount keep it."""
    found = found_or_404(queries.get_promotion(trigger, name), "promotion")
    now = current_time()
    if operations.end_promotion(trigger, name, now):
        note_changes(request, {"ends": found.ends_at or "never"}, {"ends": now})
        said = _("Promotion %(name)s ended. You can undo this in its row.")
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
        said = _("Promotion %(name)s was changed meanwhile. This is how it is now.")
        messages.error(request, said % {"name": found.title})
        return _page(request, PromotionForm(), status=409)
    note_changes(request, {"ends": ended_at}, {"ends": found.ends_at or "never"})
    messages.success(request, _("Promotion %(name)s goes on.") % {"name": found.title})
    return redirect("adminpanel:promotions")


def _page(request: HttpRequest, form: PromotionForm, status: int = 200) -> HttpResponse:
    context = {"promotions": list_promotion_lines(current_time()), "form": form}
    return render_page(request, "adminpanel/promotions/promotions.html", context, status=status)
