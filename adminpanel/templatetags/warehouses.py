"""What a warehouse is called."""

from django import template

from adminpanel.stock.forms import warehouse_label

register = template.Library()


@register.filter
def warehouse_name(warehouse_id: str) -> str:
    """Return what people call the warehouse that has this key."""
    return warehouse_label(warehouse_id)
