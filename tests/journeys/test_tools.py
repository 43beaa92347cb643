"""The programs that the suite runs beside the shop run, and one that cannot be had is said, not skipped."""

import http.client
import json
import platform
import socket
import urllib.request
from pathlib import Path

import pytest

from tests import tools
from tests.sidecars import Toxiproxy
from tests.web_server import fetch_page


def test_toxiproxy_carries_a_line_and_cuts_it(toxiproxy: Toxiproxy, stripe_mock: str) -> None:
    with toxiproxy.make_proxy(stripe_mock.removeprefix("http://")) as line:
        through = f"http://{line.host}:{line.port}/v1/charges"
        assert fetch_page(through, until=401)[0] == 401
        line.disable()
        with (
            pytest.raises(ConnectionError),
            socket.create_connection((line.host, line.port), timeout=5),
        ):
            pass
        line.enable()
        assert fetch_page(through, until=401)[0] == 401
        harm = line.add_toxic("limit_data", bytes=10)
        with pytest.raises(http.client.BadStatusLine):
            urllib.request.urlopen(through, timeout=5)
        line.remove_toxic(harm)
        assert fetch_page(through, until=401)[0] == 401


def test_stripe_mock_speaks_as_stripe(stripe_mock: str) -> None:
    headers = {"Authorization": "Bearer sk_test_123"}
    request = urllib.request.Request(f"{stripe_mock}/v1/charges", headers=headers)  # noqa: S310
    with urllib.request.urlopen(request, timeout=10) as response:  # noqa: S310
        assert json.load(response)["object"] == "list"


def test_without_go_and_without_the_proxy_it_is_said_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(tools, "FOLDER", tmp_path)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    monkeypatch.setattr(tools, "MAX_ATTEMPTS", 1)
    monkeypatch.setattr(tools, "_MACHINES", {platform.machine().lower(): "arm64"})
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setenv("GOPROXY", "https://127.0.0.1:9,direct")
    with pytest.raises(tools.ToolMissing, match=r"Install Go 1\.26\.7 or newer, or set GOPROXY"):
        tools.build_tool(tools.TOXIPROXY)
    monkeypatch.setattr("platform.system", lambda: "Haiku")
    with pytest.raises(tools.ToolMissing, match="we know of none for haiku-arm64"):
        tools.build_tool(tools.TOXIPROXY)
