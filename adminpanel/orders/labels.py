"""Staff's words for the states and events of an order, and for who made them (orders.lifecycle.labels has the table)."""

from django.utils.translation import gettext_lazy

from accounts.models import User
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.lifecycle.labels import staff_label

ACTORS = {"shopper": gettext_lazy("the customer"), "system": gettext_lazy("the shop")}
_STAFF = "staff:"


def event_label(order: Order, event: Event) -> str:
    """Return what has happened to an order, in words for staff."""
    is_pickup = not order.find_carrier(event.details.get("parcel"))
    return staff_label("event", event.kind, is_pickup=is_pickup)


def actor_label(event: Event) -> str:
    """Return who did it, in words: for one of the staff the name that was theirs then."""
    return name_actor(event.actor)


def name_actor(actor: str) -> str:
    """Return an actor in words, as `actor_label`."""
    if actor.startswith(_STAFF):
        return actor.split(":", 2)[2]
    return str(ACTORS.get(actor, actor))


def staff_actor(user: User) -> str:
    """Return the actor that an order's history keeps for a member of staff. Anybody may be called "system"."""
    return f"{_STAFF}{user.pk}:{user.name}"
