"""The middleware, and the pages for errors."""

import logging
import sys
from collections.abc import Callable, Mapping
from functools import cached_property
from http import HTTPStatus
from time import monotonic

from csp.constants import HEADER
from csp.middleware import CheckableLazyObject, CSPMiddleware
from csp.utils import build_policy
from django.conf import settings
from django.core.exceptions import TooManyFieldsSent
from django.core.signing import SignatureExpired
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.module_loading import import_string
from django_htmx.http import HttpResponseClientRedirect

from cassandra_db import CassandraUnavailable, ClockWrong, count_statements, current_time
from web.checkout_queue import CheckoutQueue, QueueWait, get_queue_ticket, render_queue_page
from web.errors import TooManyAttempts
from web.logs import clear_request_id, start_request_id
from web.metrics import count_request
from web.origin import set_current_request
from web.rendering import render_too_many_attempts, view_name
from web.uploads import STAFF_UPLOADS, find_upload_grant

GetResponse = Callable[[HttpRequest], HttpResponse]
log = logging.getLogger(__name__)
# The headers of a redirect that the answer to htmx does not copy.
_OF_THE_REDIRECT = {"Location", "Content-Type", "Content-Length"}
# What the decorators of django-csp set on a response.
_POLICY_OF_ONE_ANSWER = {
    f"_csp_{name}{kind}"
    for name in ("config", "update", "replace", "exempt")
    for kind in ("", "_ro")
}


class Middleware:
    """Calls the view. Its subclasses add work before or after the call."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class RequestIdMiddleware(Middleware):
    """Gives each request an id, which is in `request.id`, the answer's header, log lines and the audit log.

    The id never comes from the visitor. The middleware also sets the request for the audit log (web.origin).
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.id = start_request_id()  # type: ignore[attr-defined]
        set_current_request(request)
        try:
            response = self.get_response(request)
        finally:
            clear_request_id()
            set_current_request(None)
        response["X-Request-Id"] = str(request.id)  # type: ignore[attr-defined]
        return response


class ResponseHeadersMiddleware(Middleware):
    """Sets the Cache-Control and Permissions-Policy headers of each response.

    Public pages have a cart badge and a form token, so only the browser may keep them, and it must revalidate. No cache may keep
    other pages and errors. Views of immutable files (pictures, names with a hash) set their own Cache-Control.
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = (
                "private, no-cache" if _may_be_kept(request, response) else "no-store"
            )
        response["Permissions-Policy"] = settings.PERMISSIONS_POLICY
        return response


def _may_be_kept(request: HttpRequest, response: HttpResponse) -> bool:
    """Return whether a response is a public page, as its view declares (web.decorators)."""
    view = request.resolver_match.func if request.resolver_match else None
    return (
        getattr(view, "access", "") == "public"
        and not getattr(view, "no_store", False)
        and response.status_code < HTTPStatus.BAD_REQUEST
    )


class ContentSecurityPolicyMiddleware(CSPMiddleware):
    """Sets the Content-Security-Policy header. The policy of the settings is built once, other policies for each answer."""

    _built: tuple[object, str] = (None, "")

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        """Set the header, as the middleware of django-csp does."""
        policy = settings.CONTENT_SECURITY_POLICY
        if self._built[0] is not policy:
            self._built = policy, _build_policy_for_all(policy)
        text = self._built[1]
        if (
            not text
            or "_csp_nonce" in vars(request)
            or not _POLICY_OF_ONE_ANSWER.isdisjoint(vars(response))
        ):
            return super().process_response(request, response)
        if HEADER not in response:
            response[HEADER] = text
        # A nonce that is asked for from now on would be in no header.
        request.csp_nonce = CheckableLazyObject(self._csp_nonce_post_response)  # type: ignore[attr-defined]
        return response


def _build_policy_for_all(policy: Mapping[str, object]) -> str:
    """Return the header of answers without a policy of their own; "" if it may differ between answers."""
    differs = (
        policy.keys() != {"DIRECTIVES"}
        or settings.DEBUG
        or hasattr(settings, "CONTENT_SECURITY_POLICY_REPORT_ONLY")
    )
    return "" if differs else build_policy()


class StatementCountMiddleware(Middleware):
    """Counts an answer's statements for the metrics and, with COUNT_STATEMENTS, for a header. See `cassandra_db.Meter`."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = monotonic()
        with count_statements() as meter:
            response = self.get_response(request)
        count_request(request, response.status_code, monotonic() - began, meter)
        if settings.COUNT_STATEMENTS:
            response["X-Cassandra"] = (
                f"statements={meter.statement_count}, rounds={meter.round_count}, reads={meter.read_count}, "
                f"writes={meter.write_count}, conditional={meter.conditional_write_count}, rows={meter.row_count}"
            )
        return response


class RedirectMiddleware(Middleware):
    """Adapts redirects: status 303 after a POST, and HX-Redirect for htmx, so that htmx loads a whole page."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == HTTPStatus.FOUND and request.method == "POST":
            response.status_code = HTTPStatus.SEE_OTHER
        if getattr(request, "htmx", None) and response.status_code in (
            HTTPStatus.FOUND,
            HTTPStatus.SEE_OTHER,
        ):
            translated = HttpResponseClientRedirect(response["Location"])
            translated.cookies = response.cookies
            for name, value in response.items():
                if name not in _OF_THE_REDIRECT:
                    translated[name] = value
            return translated
        return response


class FieldCountMiddleware(Middleware):
    """Refuses forms with more fields than the shop's have, before they are parsed: that costs 40 µs a field.

    Only an address that is signed for staff takes as many as Django does (web.uploads).
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if _count_fields(request) > settings.MAX_FORM_FIELDS and not _is_signed_for_staff(request):
            raise TooManyFieldsSent("more fields than a form of the shop has")
        return self.get_response(request)


def _count_fields(request: HttpRequest) -> int:
    """Return how many fields a form has that is in memory. A larger one has files, and a signed address."""
    size = int(request.META.get("CONTENT_LENGTH") or 0)
    if not 0 < size <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        return 0
    if request.content_type == "application/x-www-form-urlencoded":
        return request.body.count(b"&") + 1
    if request.content_type == "multipart/form-data" and request.content_params:
        # One boundary before each field, and one at the end.
        return request.body.count(f"--{request.content_params.get('boundary', '')}".encode()) - 1
    return 0


def _is_signed_for_staff(request: HttpRequest) -> bool:
    try:
        grant = find_upload_grant(request.path, request.META.get("QUERY_STRING", ""))
    except SignatureExpired:
        return False
    return grant is not None and grant.limits is STAFF_UPLOADS


class CheckoutQueueMiddleware(Middleware):
    """Lets only a few requests at a time into the views of `settings.CHECKOUT_QUEUE_URLS` (web.checkout_queue).

    Updates by htmx within a page that the checkout has shown need not queue. Anybody can send the header of htmx, so whole pages
    and the submit that places an order always queue.
    """

    def __init__(self, get_response: GetResponse) -> None:
        super().__init__(get_response)
        self.queue = CheckoutQueue(settings.CHECKOUTS_AT_ONCE, settings.CHECKOUTS_NEXT)

    @cached_property
    def queued_paths(self) -> frozenset[str]:
        """The paths of the queued views. To resolve each request to its view would cost as much as the queue's page."""
        return frozenset(reverse(name) for name in settings.CHECKOUT_QUEUE_URLS)

    def _is_update(self, request: HttpRequest) -> bool:
        """Return whether a submit only updates a part of a page that the checkout has shown."""
        return (
            request.method == "POST"
            and "HX-Request" in request.headers
            and "update" in request.POST
            and import_string(settings.CHECKOUT_VISIT_PROOF)(request.POST.get("checkout", ""))
        )

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path not in self.queued_paths or self._is_update(request):
            return self.get_response(request)
        now = current_time().timestamp()
        visitor = self.queue.enter(get_queue_ticket(request, now), now)
        if isinstance(visitor, QueueWait):
            return render_queue_page(request, visitor)
        try:
            return self.get_response(request)
        finally:
            self.queue.leave(visitor, current_time().timestamp())


class FailedAnswerMiddleware(Middleware):
    """Keeps the old CSRF token after a failed answer, such as a login that broke off after it had rotated the token.

    The form that the visitor sends again still has the old token (S66).
    """

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            request.META["CSRF_COOKIE_NEEDS_UPDATE"] = False
        return response


class CassandraUnavailableMiddleware(Middleware):
    """Answers 503 when Cassandra is away."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return render_unavailable(request) if isinstance(exception, CassandraUnavailable) else None


class RateLimitMiddleware(Middleware):
    """Answers 429 when a view raises TooManyAttempts instead of handling it."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        return (
            render_too_many_attempts(request, exception)
            if isinstance(exception, TooManyAttempts)
            else None
        )


def render_unavailable(request: HttpRequest) -> HttpResponse:
    """Return the page for status 503, which needs no database for shoppers. Call this function while the exception is being handled."""
    error = sys.exc_info()[1]
    log.warning("%s %s: %s", request.method, view_name(request), error or "Cassandra is away")
    view = request.resolver_match.func if request.resolver_match else None
    is_staff = getattr(view, "access", "") == "staff"
    context = {"is_read_only": isinstance(error, ClockWrong), "is_staff": is_staff}
    response = _render_staff_unavailable(request, context) or render(
        None, "errors/503.html", context, status=503
    )
    response["Retry-After"] = "10"
    return response


def _render_staff_unavailable(
    request: HttpRequest, context: dict[str, bool]
) -> HttpResponse | None:
    """Return the page for status 503 in the staff's frame. Return None for shoppers, or if the frame needs the database."""
    if not getattr(request, "is_staff_page", False):
        return None
    try:
        return render(request, "errors/503_staff.html", context, status=503)
    except CassandraUnavailable:
        return None


def server_error(request: HttpRequest) -> HttpResponse:
    """Return the page for an uncaught error: 503 if Cassandra is away, else 500."""
    if isinstance(sys.exc_info()[1], CassandraUnavailable):
        return render_unavailable(request)
    return render(None, "errors/500.html", status=500)
