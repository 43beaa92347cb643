"""Shows and saves the form of a setting. Saving checks it against all others. A stale form is a conflict."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, TypeVar

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect

from accounts.access import note_changes
from adminpanel.conflicts import Conflict, compare_fields, get_seen_version
from adminpanel.settings.forms import SettingForm
from cassandra_db import current_time
from shop_settings import operations
from shop_settings.errors import SettingChanged, SettingRefused, SettingsBusy
from shop_settings.kinds import SettingKind
from shop_settings.queries import get_settings_at_quorum
from web.rendering import render_page

T = TypeVar("T")
# Returns sentences about a change's consequences. Its arguments are all settings of a kind before and after the change.
Consequences = Callable[[Mapping[str, T], Mapping[str, T]], list[str]]


def get_posted(request: HttpRequest) -> QueryDict | None:
    """Return the fields of a submit, or None if the page is only shown."""
    return request.POST if request.method == "POST" else None


def edit_setting(
    request: HttpRequest,
    form: SettingForm[Any],
    key: str,
    list_page: str,
    consequences: Consequences[Any] = lambda before, after: [],
    save: Callable[[SettingKind[Any], str, Any, str, datetime], object] = operations.save_setting,
    **more: Any,
) -> HttpResponse:
    """Show a setting's form, or save it by `save`. If the change has consequences, ask for confirmation first."""
    if request.method != "POST":
        return show_setting(request, form, key, **more)
    if not form.is_valid():
        return show_setting(request, form, key, status=422, **more)
    kind, seen = form.kind, get_seen_version(request.POST)
    values, setting = (
        get_settings_at_quorum(kind.partition).get_values(kind),
        form.build_setting(key),
    )
    saved, typed = values.get(key), kind.fingerprint(setting)
    if kind.fingerprint(saved) not in (seen, typed):
        return _show_conflict(request, form, key, saved, **more)
    sentences = consequences(values, {**values, key: setting})
    if sentences and request.POST.get("confirmed") != typed:
        more |= {"consequences": sentences, "confirmed": typed}
        return show_setting(request, form, key, status=422, **more)
    try:
        save(kind, key, setting, seen, current_time())
    except SettingChanged:
        return _show_conflict(
            request,
            form,
            key,
            get_settings_at_quorum(kind.partition).get_values(kind).get(key),
            **more,
        )
    except SettingRefused as refused:
        form.add_error(refused.field if refused.field in form.fields else None, str(refused))
        return show_setting(request, form, key, status=422, **more)
    except SettingsBusy as busy:
        form.add_error(None, str(busy))
        return show_setting(request, form, key, status=409, **more)
    before = form.renew(saved).describe() if saved else {}
    note_changes(request, before, form.renew(setting).describe())
    messages.success(request, str(form.saved_text))
    return redirect(list_page)


def _show_conflict(
    request: HttpRequest, form: SettingForm[Any], key: str, saved: Any, **more: Any
) -> HttpResponse:
    """Show the form after a conflict: the saved and the typed values side by side. The form keeps the typed values."""
    fields = compare_fields(form.renew(saved).describe() if saved else {}, form.describe())
    conflict = Conflict("", None, form.kind.fingerprint(saved), fields)
    return show_setting(request, form, key, status=409, conflict=conflict, **more)


def show_setting(
    request: HttpRequest, form: SettingForm[Any], key: str, status: int = 200, **more: Any
) -> HttpResponse:
    """Show a setting's form."""
    context = {"form": form, "key": key, "setting": form.entity, **more}
    return render_page(request, form.template, context, status=status)
