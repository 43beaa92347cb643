"""Pages of the shop's settings. Saving checks a setting against all others. A stale form is a conflict."""

from collections.abc import Mapping
from itertools import count
from typing import Any, TypeVar
from uuid import uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import slugify
from django.utils.timezone import localdate
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from accounts.access import note_changes, staff_required
from accounts.roles import ADMIN
from adminpanel.parameters import found_or_404
from adminpanel.settings.delivery_forms import DeliveryForm, WeightsForm
from adminpanel.settings.editing import edit_setting, get_posted, show_setting
from adminpanel.settings.forms import ReviewRulesForm, TermsForm, WarehouseForm
from adminpanel.settings.pages import (
    describe_closed_warehouses,
    describe_coming_gaps,
    describe_lost_countries,
    describe_rewritten_terms,
    list_delivery_lines,
    list_tax_lines,
)
from adminpanel.settings.tax_forms import TaxForm
from cassandra_db import current_time
from inventory.warehouses import WAREHOUSE, sort_warehouses
from moderation.rules import KEY as REVIEW_RULES_KEY
from moderation.rules import REVIEW_RULES
from pricing.delivery_settings import DELIVERY, country_name
from pricing.delivery_words import format_weight
from pricing.tax import TAX
from pricing.weight_settings import PARCEL, WEIGHTS, get_bands
from shop_settings import operations
from shop_settings.errors import SettingChanged, SettingRefused, SettingsBusy
from shop_settings.kinds import SettingKind
from shop_settings.queries import get_settings_at_quorum
from shop_settings.terms import TERMS, find_terms, list_terms
from web.decorators import get_or_post, post_only
from web.rendering import render_page

T = TypeVar("T")


@staff_required((ADMIN,))
@require_safe
def setting_list(request: HttpRequest) -> HttpResponse:
    """Show an overview of the shop's settings."""
    settings = get_settings_at_quorum()
    context = {
        "delivery_count": len(settings.get_values(DELIVERY)),
        "tax_count": len(settings.get_values(TAX)),
        "warehouses": ", ".join(each.name for each in sort_warehouses(settings)),
        "terms": find_terms(settings, localdate()),
    }
    return render_page(request, "adminpanel/settings/settings.html", context)


@staff_required((ADMIN,))
@require_safe
def delivery_methods(request: HttpRequest) -> HttpResponse:
    """List the delivery methods, and the countries that no method will reach in the future."""
    snapshot, today = get_settings_at_quorum(), localdate()
    methods = snapshot.get_values(DELIVERY)
    context = {
        "lines": list_delivery_lines(methods.values(), today),
        "gaps": describe_coming_gaps(methods, today),
        "lightest": format_weight(get_bands(snapshot)[0].max_grams),
    }
    return render_page(request, "adminpanel/settings/delivery_methods.html", context)


def _lost_countries(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return describe_lost_countries(before, after, localdate())


@staff_required((ADMIN,), lists=("countries",), is_about_people=False)
@get_or_post
def create_delivery_method(request: HttpRequest) -> HttpResponse:
    """Add a delivery method."""
    form = DeliveryForm(None, get_posted(request))
    key = (form.cleaned_data["key"] or uuid4()).hex if form.is_valid() else ""
    return edit_setting(request, form, key, "adminpanel:delivery_methods", _lost_countries)


@staff_required((ADMIN,), lists=("countries",), is_about_people=False)
@get_or_post
def delivery_method(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change a delivery method. If a country would lose its last method, ask for confirmation first.

    If somebody else removed the method, saving is a conflict (409). Saving once more restores the method.
    """
    setting = get_settings_at_quorum().get_values(DELIVERY).get(key)
    if setting is None and request.method != "POST":
        raise Http404("no such setting")
    form = DeliveryForm(setting, get_posted(request))
    return edit_setting(request, form, key, "adminpanel:delivery_methods", _lost_countries)


@staff_required((ADMIN,), is_about_people=False)
@post_only("adminpanel:delivery_method", "key")
def remove_delivery_method(request: HttpRequest, key: str) -> HttpResponse:
    """Remove a delivery method. Placed orders keep it. If a country would lose its last one, ask for confirmation first."""
    methods = get_settings_at_quorum().get_values(DELIVERY)
    if (setting := methods.get(key)) is None:
        return redirect("adminpanel:delivery_methods")  # the form was sent twice
    after = {each: value for each, value in methods.items() if each != key}
    form, seen = DeliveryForm(setting), request.POST.get("version", "")
    if (lost := _lost_countries(methods, after)) and request.POST.get("confirmed") != seen:
        more = {"consequences": lost, "confirmed": seen, "removes": True}
        return show_setting(request, form, key, status=422, **more)
    try:
        operations.remove_setting(DELIVERY, key, seen, current_time())
    except SettingChanged as changed:
        messages.error(request, str(changed))
        newer = get_settings_at_quorum().get_values(DELIVERY).get(key)
        return show_setting(request, DeliveryForm(newer), key, status=409)
    except (SettingRefused, SettingsBusy) as refused:
        messages.error(request, str(refused))
        return redirect("adminpanel:delivery_method", key=key)
    note_changes(request, form.describe(), {"name": ""})
    messages.success(request, _("%(name)s is removed.") % {"name": setting.name})
    return redirect("adminpanel:delivery_methods")


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def parcel_weights(request: HttpRequest) -> HttpResponse:
    """Show or change the surcharges for heavy parcels."""
    setting = _get_setting(WEIGHTS, PARCEL)
    form = WeightsForm(setting, get_posted(request))
    return edit_setting(request, form, PARCEL, "adminpanel:delivery_methods")


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def review_rules(request: HttpRequest) -> HttpResponse:
    """Show or change the rules for reviews."""
    setting = _get_setting(REVIEW_RULES, REVIEW_RULES_KEY)
    form = ReviewRulesForm(setting, get_posted(request))
    return edit_setting(request, form, REVIEW_RULES_KEY, "adminpanel:review_rules")


@staff_required((ADMIN,))
@require_safe
def tax_rates(request: HttpRequest) -> HttpResponse:
    """Show the tax rates of all countries."""
    taxes = get_settings_at_quorum().get_values(TAX)
    context = {"lines": list_tax_lines(taxes.values(), localdate())}
    return render_page(request, "adminpanel/settings/tax_rates.html", context)


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def country_tax(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change the tax rates of a country."""
    form = TaxForm(_get_setting(TAX, key), get_posted(request))
    return edit_setting(request, form, key, "adminpanel:tax_rates", title=country_name(key))


@staff_required((ADMIN,))
@require_safe
def warehouses(request: HttpRequest) -> HttpResponse:
    """List the warehouses in the order in which they supply units for orders."""
    lines = [
        (each, country_name(each.country)) for each in sort_warehouses(get_settings_at_quorum())
    ]
    return render_page(request, "adminpanel/settings/warehouses.html", {"lines": lines})


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def create_warehouse(request: HttpRequest) -> HttpResponse:
    """Add a warehouse."""
    form, key = WarehouseForm(None, get_posted(request)), ""
    if form.is_valid():
        # A warehouse with a new name keeps its key. A form that is sent twice finds the warehouse that it created.
        slug = slugify(form.cleaned_data["name"])
        known = get_settings_at_quorum().get_values(WAREHOUSE)
        keys = (slug if number == 1 else f"{slug}-{number}" for number in count(1))
        key = next(each for each in keys if known.get(each) in (None, form.build_setting(each)))
    return edit_setting(request, form, key, "adminpanel:warehouses")


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def warehouse_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change a warehouse. If the change closes it, ask for confirmation first."""
    form = WarehouseForm(_get_setting(WAREHOUSE, key), get_posted(request))
    return edit_setting(request, form, key, "adminpanel:warehouses", describe_closed_warehouses)


@staff_required((ADMIN,))
@require_safe
def terms_list(request: HttpRequest) -> HttpResponse:
    """List the shop's terms, sorted by their first days."""
    settings, today = get_settings_at_quorum(), localdate()
    context = {
        "terms": list_terms(settings),
        "current": find_terms(settings, today),
        "today": today,
    }
    return render_page(request, "adminpanel/settings/terms.html", context)


def _rewritten_terms(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    return describe_rewritten_terms(before, after, localdate())


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def create_terms(request: HttpRequest) -> HttpResponse:
    """Plan new terms from a day on. The form starts with the terms of today."""
    form = TermsForm(None, get_posted(request))
    if request.method != "POST":
        present = list_terms(get_settings_at_quorum())[0]
        form.initial = form.get_initial_values(present) | {"valid_from": None}
    key = (form.cleaned_data["key"] or uuid4()).hex if form.is_valid() else ""
    return edit_setting(request, form, key, "adminpanel:terms", _rewritten_terms)


@staff_required((ADMIN,), is_about_people=False)
@get_or_post
def terms_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Show or change terms. If the change affects past days, ask for confirmation first."""
    form = TermsForm(_get_setting(TERMS, key), get_posted(request))
    return edit_setting(request, form, key, "adminpanel:terms", _rewritten_terms)


def _get_setting(kind: SettingKind[T], key: str) -> T:
    return found_or_404(get_settings_at_quorum().get_values(kind).get(key), "setting")
