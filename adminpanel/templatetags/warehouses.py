"""A template filter for the name of a warehouse."""

from django import template

from inventory.warehouses import find_warehouse_name

register = template.Library()
register.filter("warehouse_name", find_warehouse_name)
