"""The template tag for the rows of an order's sums."""

from django import template

from pricing.sum_rows import SumRow, Sums, list_sum_rows

register = template.Library()


@register.simple_tag
def sum_rows(sums: Sums, method_name: object) -> list[SumRow]:
    """Return the rows from the subtotal down to the total (pricing.sum_rows)."""
    return list_sum_rows(sums, str(method_name))
