"""A proxy on the same host, of which nobody has told the shop."""

import logging
from pathlib import Path

import pytest
from django.test import Client, override_settings

from web import proxies


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


@override_settings(BEHIND_PROXY=True)
def test_s68_a_proxy_that_was_named_is_not_said(
    marker: Path, caplog: pytest.LogCaptureFixture
) -> None:
    visit(Client(), "127.0.0.1", **{"x-forwarded-for": "198.51.100.4"})
    assert not warnings(caplog)
    assert not marker.exists()
