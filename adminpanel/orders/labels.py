"""The words for an order's states and events, and for the actors (staff's texts in the table orders.lifecycle.labels)."""

from django.utils.translation import gettext_lazy

from accounts.models import User
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.labels import staff_label

ACTORS = {"shopper": gettext_lazy("the customer"), "system": gettext_lazy("the shop")}
_STAFF = "staff:"


def event_label(order: Order, event: Event) -> str:
    """Return an order's event in words for staff."""
    is_pickup = not order.find_carrier(event.details.get("parcel"))
    return staff_label("event", event.kind, is_pickup=is_pickup)


def actor_label(event: Event) -> str:
    """Return the words for the person or program that caused an event."""
    return name_actor(event.actor)


def name_actor(actor: str) -> str:
    """Return an actor in words. Members of staff get the name that they had at the time of the event."""
    if actor.startswith(_STAFF):
        return actor.split(":", 2)[2]
    return str(ACTORS.get(actor, actor))


def staff_actor(user: User) -> str:
    """Return a staff member's actor text for an order's history. Its prefix tells a user named "system" from the system."""
    return f"{_STAFF}{user.pk}:{user.name}"
