"""Sets request.user."""

from collections.abc import Callable
from uuid import UUID

from django.contrib import auth
from django.http import HttpRequest, HttpResponse
from django.utils.functional import SimpleLazyObject

from accounts import queries


class UserMiddleware:
    """Starts reading the member behind a session at once, and waits for the answer only where somebody looks.

    A request without a session cookie reads nothing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.user = SimpleLazyObject(lambda: auth.get_user(request))  # type: ignore[assignment]
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object) -> None:
        if getattr(view, "without_header", False):
            return
        if request.session.session_key and (user_id := request.session.get(auth.SESSION_KEY)):
            queries.user_started(UUID(user_id))
