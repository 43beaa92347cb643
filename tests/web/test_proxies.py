"""A proxy on the same host, of which nobody has told the shop."""

import logging
from pathlib import Path

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory, override_settings

from web import proxies
from web.rate_limits import network_address


@pytest.fixture(autouse=True)
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(proxies, "MARKER", tmp_path / "unknown-proxy")
    return proxies.MARKER


def visit(client: Client, remote: str, **headers: str) -> None:
    client.get("/healthz", REMOTE_ADDR=remote, headers=headers)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.message for each in caplog.records if each.name == proxies.__name__]


def test_s68_a_proxy_that_nobody_named_is_said_once_a_process(
    marker: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING)
    client, forwarded = Client(), {"x-forwarded-for": "198.51.100.4"}
    visit(client, "127.0.0.1")
    visit(client, "203.0.113.5", **forwarded)
    assert not warnings(caplog)
    assert not marker.exists()
    for remote in ("127.0.0.1", "::1", ""):
        visit(client, remote, **forwarded)
    assert len(warnings(caplog)) == 1
    assert "BEHIND_PROXY is off" in warnings(caplog)[0]
    assert marker.exists()


@override_settings(BEHIND_PROXY=True, FORWARDED_ALLOW_IPS=["192.0.2.7", " 10.0.0.0/8"])
def test_s100_only_the_named_proxy_says_where_a_request_comes_from(
    marker: Path, caplog: pytest.LogCaptureFixture
) -> None:
    seen = []

    def look(request: HttpRequest) -> HttpResponse:
        seen.append((network_address(request), request.is_secure()))
        return HttpResponse()

    middleware = proxies.ForwardedHeadersMiddleware(look)
    forwarded = {"X-Forwarded-For": "198.51.100.4", "X-Forwarded-Proto": "https"}
    with override_settings(SECURE_PROXY_SSL_HEADER=("HTTP_X_FORWARDED_PROTO", "https")):
        named = ("192.0.2.7", "10.9.8.7", "::ffff:10.9.8.7", "")
        for peer in (*named, "127.0.0.1", "192.0.2.8", "2001:db8::1", "rubbish"):
            middleware(RequestFactory().get("/", headers=forwarded, REMOTE_ADDR=peer))
        with override_settings(FORWARDED_ALLOW_IPS=["*"]):
            anybodys = proxies.ForwardedHeadersMiddleware(look)
            anybodys(RequestFactory().get("/", headers=forwarded, REMOTE_ADDR="192.0.2.8"))
    believed = ("198.51.100.4", True)
    assert seen == [
        *[believed] * len(named),
        ("127.0.0.1", False),
        ("192.0.2.8", False),
        ("2001:db8::/64", False),
        ("unknown", False),
        believed,
    ]
    (warning,) = warnings(caplog)
    assert warning.startswith("127.0.0.1 sends")
    assert not marker.exists()


@override_settings(BEHIND_PROXY=True)
def test_s68_a_proxy_that_was_named_is_not_said(
    marker: Path, caplog: pytest.LogCaptureFixture
) -> None:
    visit(Client(), "127.0.0.1", **{"x-forwarded-for": "198.51.100.4"})
    assert not warnings(caplog)
    assert not marker.exists()
