"""Repeated submits: a form about an order that is sent twice takes effect once, and gets the same answer.

Each event that a submit causes stores the submit's id. The id is derived from the user, the page and the fields. The fields
include the order's version or last event when the page was opened, so the same input in a page opened later is a new submit.
"""

import json
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Concatenate, ParamSpec
from uuid import UUID, uuid5

from django.http import HttpRequest, HttpResponse

from orders import queries
from orders.lifecycle.entities import Order
from orders.lifecycle.events import Event
from orders.operations.transitions import submit_under_way

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, Order, P], HttpResponse]
# A function that returns the answer to a successful submit. It gets the order after the submit's event.
Answer = Callable[[HttpRequest, Order], HttpResponse]


def find_submitted_event(request: HttpRequest, order: Order) -> Event | None:
    """Return the first event that this submit has caused, or None."""
    submit_id = derive_submit_id(request, order)
    return next((event for event in reversed(order.events) if event.submit_id == submit_id), None)


def handle_once(answer: Answer) -> Callable[[View[P]], View[P]]:
    """Decorate a view so that a repeated submit gets the answer of `answer`, which is the same as the first submit's."""

    def decorated(view: View[P]) -> View[P]:
        @wraps(view)
        def handled(
            request: HttpRequest, order: Order, /, *args: P.args, **kwargs: P.kwargs
        ) -> HttpResponse:
            if request.method != "POST":
                return view(request, order, *args, **kwargs)
            if find_submitted_event(request, order):
                return answer(request, order)
            with submit_under_way(derive_submit_id(request, order)):
                response = view(request, order, *args, **kwargs)
            if response.status_code == HTTPStatus.CONFLICT:
                # The same submit may have succeeded at the same moment.
                fresh = queries.get_order(order.order_id) or order
                if find_submitted_event(request, fresh):
                    return answer(request, fresh)
            return response

        return handled

    return decorated


def derive_submit_id(request: HttpRequest, order: Order) -> UUID:
    """Return the id of a submit about an order: the same for the same fields, page and user."""
    fields = sorted(
        (name, values) for name, values in request.POST.lists() if name != "csrfmiddlewaretoken"
    )
    return uuid5(order.order_id, json.dumps([str(request.user.pk), request.path, fields]))
