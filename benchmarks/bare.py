"""The yardstick: a bare Django view that renders the shop's templates from memory.

At first use, each page is requested once from the real shop, and its template and whole context are kept. From then on the view only
renders this template: no database, no session, no cart, no user. It uses none of the shop's caches (benchmarks.bare_settings), so
that the yardstick does not depend on them.
"""

import json
import os
from functools import cache
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.template import Context
from django.template.base import Template
from django.test import Client, override_settings
from django.test.utils import setup_test_environment, teardown_test_environment
from django.urls import path

import storefront.settings
from storefront.urls import urlpatterns as shop


def record_page(url: str, cookies: dict[str, str]) -> tuple[Template, dict[str, Any]]:
    """Return the template that the shop renders for `url`, and the context with which it does so."""
    setup_test_environment()
    try:
        with override_settings(
            ROOT_URLCONF="storefront.urls", MIDDLEWARE=storefront.settings.MIDDLEWARE
        ):
            client = Client()
            for name, value in cookies.items():
                client.cookies[name] = value
            answer = client.get(url)
    finally:
        teardown_test_environment()
    if answer.status_code != 200:
        raise RuntimeError(f"{url} answered {answer.status_code}")
    contexts: Any = answer.context
    recorded = contexts[0].flatten()
    # Values that are callable are evaluated now, so that the view does not evaluate them.
    known = {name: value() if callable(value) else value for name, value in recorded.items()}
    return answer.templates[0], known


@cache
def _pages() -> dict[str, tuple[Template, dict[str, Any]]]:
    wanted: dict[str, dict[str, Any]] = json.loads(os.environ["BENCHMARK_PAGES"])
    return {name: record_page(each["url"], each["bare_cookies"]) for name, each in wanted.items()}


def bare_page(request: HttpRequest, name: str) -> HttpResponse:
    """Render the page from the template and context in memory."""
    template, context = _pages()[name]
    return HttpResponse(template.render(Context(context)))


urlpatterns: list[Any] = [path("bare/<name>", bare_page), *shop]


def application() -> WSGIHandler:
    """Return the WSGI application, for gunicorn 'benchmarks.bare:application()'."""
    made = get_wsgi_application()
    _pages()
    return made
