"""The names of warehouses."""

from django import template

from inventory.warehouses import find_warehouse_name

register = template.Library()
register.filter("warehouse_name", find_warehouse_name)
