"""The middlewares that set request.session and request.user."""

from collections.abc import Callable
from functools import partial
from uuid import UUID

from asgiref.sync import sync_to_async
from django.contrib import auth
from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions import middleware as sessions
from django.contrib.sessions.exceptions import SessionInterrupted
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import SimpleLazyObject

from accounts import queries
from accounts.bell import prefetch_bell
from accounts.sessions import SessionStore
from shop_settings.queries import prefetch_settings
from web.devices import browser_name


class SessionMiddleware(sessions.SessionMiddleware):
    """Django's middleware, with a page for requests whose session ended while they ran."""

    def process_request(self, request: HttpRequest) -> None:
        """Set the session of the request's cookie. The session is read from the database when it is first needed."""
        super().process_request(request)
        if isinstance(request.session, SessionStore):
            request.session.name_device = partial(browser_name, request)

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Save the session. If it has ended since the request began, show a page that says so, and delete the cookie."""
        try:
            return super().process_response(request, response)
        except SessionInterrupted:
            return super().process_response(request, self._ended(request))

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Show the page about an ended session if the session ended before it could get a new key."""
        return self._ended(request) if isinstance(exception, SessionInterrupted) else None

    @staticmethod
    def _ended(request: HttpRequest) -> HttpResponse:
        request.session = SessionStore()
        request.user = AnonymousUser()
        return render(request, "accounts/ended.html", status=403)


class UserMiddleware:
    """Starts to read the session's member when the request begins, and waits for the answer when the member is needed.

    A request without a session cookie reads nothing.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        # A thread serves many requests: drop a pending read that an earlier request has left.
        queries.prefetch_user(None)
        request.user = SimpleLazyObject(lambda: _user(request))  # type: ignore[assignment]
        request.auser = partial(_get_user_async, request)
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., HttpResponse], args: object, kwargs: object
    ) -> None:
        if getattr(view, "without_header", False):
            return
        # Every page carries the brand.
        prefetch_settings()
        if request.session.session_key and (user_id := request.session.get(auth.SESSION_KEY)):
            queries.prefetch_user(UUID(user_id))
            prefetch_bell(request, view, UUID(user_id))
            # A page that refreshes itself does not keep a session alive.
            if isinstance(request.session, SessionStore) and not request.headers.get(
                "X-Refreshes-Itself"
            ):
                request.session.renew()


async def _get_user_async(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    # Any attribute makes the lazy object read the user, and the read blocks: use a thread.
    await sync_to_async(lambda: request.user.is_authenticated)()
    return request.user


def _user(request: HttpRequest) -> AbstractBaseUser | AnonymousUser:
    user = auth.get_user(request)
    if not user.is_authenticated and auth.SESSION_KEY in request.session:
        # A user who may no longer sign in loses the session.
        request.session.flush()
    return user
