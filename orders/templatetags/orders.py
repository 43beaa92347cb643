"""Template tags about orders and their terms."""

from datetime import date

from django import template

from cassandra_db import current_time
from orders import links, presentation
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from shop_settings.terms import get_terms

register = template.Library()


@register.simple_tag
def event_label(order: Order, event: Event) -> str:
    """Return the shopper's label for an event of an order, translated."""
    return presentation.event_label(order, event)


@register.simple_tag
def accepted_terms_path(order: Order) -> str:
    """Return the path of the terms that an order's shopper has accepted, or ""."""
    return links.accepted_terms_path(order)


@register.simple_tag
def may_return(order: Order) -> bool:
    """Return whether units of an order may be returned now."""
    return bool(order.returnable_units(current_time()))


@register.filter
def return_deadline(order: Order) -> date | None:
    """Return the last day for requesting a return; None before anything was delivered."""
    return presentation.return_deadline(order)


@register.simple_tag
def return_days() -> int:
    """Return the number of days after its delivery in which an item may be returned."""
    return get_terms().return_days


@register.simple_tag
def withdrawal_days() -> int:
    """Return how many days after the last item's arrival a consumer may withdraw from the contract."""
    return get_terms().withdrawal_days
