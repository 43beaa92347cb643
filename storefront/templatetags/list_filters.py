"""The template tag for the values of a filter."""

from functools import lru_cache

from django import template
from django.utils.formats import number_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import ngettext

from catalogue.templatetags.pictures import dot
from storefront.list_filters import FilterGroup, FilterValue

register = template.Library()


@register.simple_tag
def filter_values(group: FilterGroup) -> SafeString:
    """Return the HTML of a filter's values. A page has some fifty: drawn by a template they would take most of its time."""
    return SafeString(
        "".join(
            _draw_value(
                group.name,
                f"filter-{group.slug}-{place}",
                each,
                ngettext("product", "products", each.count),
            )
            for place, each in enumerate(group.values, 1)
        )
    )


@lru_cache(maxsize=4096)
def _draw_value(name: str, element_id: str, value: FilterValue, unit: str) -> SafeString:
    state = " checked" if value.is_chosen else "" if value.count else " disabled"
    return format_html(
        '<li><label class="check filters__value">'
        '<input type="checkbox" name="filter" value="{}:{}" id="{}"{}>{}<span>{}</span> '
        '<span class="num muted">{} <span class="vh">{}</span></span></label></li>',
        name,
        value.value,
        element_id,
        SafeString(state),
        dot(value.hex) if value.hex else "",
        value.label,
        number_format(value.count, 0, force_grouping=True),
        unit,
    )
