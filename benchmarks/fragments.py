"""Measures the processor time that each cached fragment saves its page (benchmarks.pages --without)."""

from collections.abc import Sequence
from http import HTTPStatus
from io import BytesIO
from time import process_time
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest  # noqa: E402
from django.template.context import Context  # noqa: E402
from django.test import RequestFactory  # noqa: E402
from django.utils.safestring import SafeString  # noqa: E402

from benchmarks import visitors  # noqa: E402
from cassandra_db import current_time  # noqa: E402
from catalogue.search_index import refresh_index  # noqa: E402
from web.templatetags.fragments import FragmentNode  # noqa: E402
from web.text_cache import FRAGMENTS  # noqa: E402

_handler = WSGIHandler()
_render = FragmentNode.render
# The fragments that a page has, and the fragment that is rendered each time, as if it were not cached.
_seen: set[str] = set()
_without = ""


def _render_without(node: FragmentNode, context: Context) -> SafeString:
    # A fragment without a view object has the name of its template.
    name = node.view_name or str(node.origin.template_name)
    _seen.add(name)
    return node.nodelist.render(context) if name == _without else _render(node, context)


def measure_savings(names: Sequence[str], pages: Sequence[str], rounds: int) -> None:
    """Print the time that each named fragment saves (all if none is named), for a guest with a cart and for a member."""
    node_class: Any = FragmentNode
    node_class.render = _render_without
    settings.ALLOWED_HOSTS.append("testserver")
    refresh_index(current_time())
    urls = visitors.page_urls()
    # In a longer list, each card is cached as a fragment of its own.
    urls["category, 48 cards"] = f"{urls['category']}?show=48"
    for who, cookies in (
        ("cart", visitors.make_guest_cookies()),
        ("member", visitors.make_member_cookies()),
    ):
        factory = RequestFactory()
        for name, value in cookies.items():
            factory.cookies[name] = value
        for page, url in urls.items():
            if page.partition(",")[0] in pages:
                _measure_page(f"{page}, {who}", factory.get(url).environ, names, rounds)


def _measure_page(page: str, environ: dict[str, Any], names: Sequence[str], rounds: int) -> None:
    FRAGMENTS.clear()
    _seen.clear()
    _take(environ, "")
    for name in sorted(_seen.intersection(names or _seen)):
        pairs = [(_take(environ, ""), _take(environ, name)) for _ in range(rounds + 1)][1:]
        # The lowest time is the one that other load on the machine disturbs least.
        kept, drawn = (1000 * min(each) for each in zip(*pairs, strict=True))
        print(
            f"{page:28}{name:20}{kept:8.2f} ms{drawn:8.2f} ms without{1 - kept / drawn:8.0%}",
            flush=True,
        )


def _take(environ: dict[str, Any], without: str) -> float:
    """Return the CPU seconds that a page takes while the fragment `without` is not cached."""
    global _without
    _without = without
    request = WSGIRequest({**environ, "wsgi.input": BytesIO()})
    before = process_time()
    response = _handler.get_response(request)
    taken = process_time() - before
    response.close()
    if response.status_code != HTTPStatus.OK:
        raise SystemExit(f"{request.path} answered {response.status_code}")
    return taken
