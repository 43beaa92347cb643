"""The commands of the systemd units, started as plain processes behind Caddy with TLS."""

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from tests.deployment.units import UNITS, Deployment, served_environment
from tests.environment import ROOT
from tests.waiting import wait_until
from tests.web_server import fetch_page

TOKEN = "a-token-of-thirty-two-characters"


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Deployment]:
    environment = served_environment(METRICS_TOKEN=TOKEN, WEB_CONCURRENCY="1")
    deployment = Deployment(tmp_path, 1, environment)
    try:
        deployment.start()
        yield deployment
    finally:
        deployment.end()


def test_x566_the_units_commands_serve_the_shop_behind_the_proxy_with_tls(shop: Deployment) -> None:
    trusted = urllib.request.HTTPSHandler(context=shop.make_tls_context())
    opener = urllib.request.build_opener(trusted)

    def ask(
        path: str, headers: dict[str, str] | None = None, data: bytes | None = None
    ) -> tuple[int, Message]:
        request = urllib.request.Request(shop.url + path, data, headers or {})  # noqa: S310
        try:
            answer = opener.open(request, timeout=20)
        except urllib.error.HTTPError as error:
            return error.code, error.headers
        return answer.status, answer.headers

    # What a visitor says of the scheme is not believed: the shop would redirect.
    status, headers = ask("/account/login/", {"X-Forwarded-Proto": "http"})
    assert status == 200
    assert "max-age" in headers["Strict-Transport-Security"]
    (cookie,) = re.findall(r"__Host-stoa_csrf=[^;]+; .*", str(headers))
    assert "Secure" in cookie
    web = f"http://127.0.0.1:{shop.web_ports[0]}"
    bearer = {"Authorization": f"Bearer {TOKEN}"}
    assert ask("/metrics", bearer)[0] == 404
    with urllib.request.urlopen(urllib.request.Request(f"{web}/metrics", headers=bearer)) as direct:  # noqa: S310
        assert direct.status == 200
    # Refused by its size: nothing of the body is sent, which the proxy might cut.
    large = {"Content-Length": "300000", "Expect": "100-continue"}
    assert ask("/account/login/", large, data=b"")[0] == 413
    plain = urllib.request.Request(f"http://127.0.0.1:{shop.plain_port}/help/delivery/")

    class NoRedirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *arguments: object, **named: object) -> None: ...

    with pytest.raises(urllib.error.HTTPError) as redirected:
        urllib.request.build_opener(NoRedirect).open(plain, timeout=20)
    assert redirected.value.code == 308
    assert redirected.value.headers["Location"] == "https://127.0.0.1/help/delivery/"
    # A stop: the proxy learns of it first, then the requests at hand are finished.
    Path(shop.web[0].environment["DRAIN_FILE"]).touch()
    assert fetch_page(f"{web}/healthz")[0] == 503
    # The proxy has no other server.
    wait_until(lambda: ask("/help/delivery/")[0] == 503, "it is asked all the same", seconds=30)
    assert shop.web[0].stop() == 0


def test_x571_a_server_that_is_about_to_be_stopped_says_so(
    client: Client, settings: Settings, tmp_path: Path
) -> None:
    settings.DRAIN_FILE = str(tmp_path / "draining")
    assert client.get("/healthz").status_code == 200
    (tmp_path / "draining").touch()
    assert client.get("/healthz").status_code == 503
    settings.DRAIN_FILE = ""
    assert client.get("/healthz").status_code == 200


def test_each_file_of_a_deployment_says_first_what_was_run() -> None:
    files = [*UNITS.iterdir(), *(path for path in UNITS.parent.iterdir() if path.is_file())]
    assert len(files) >= 7
    for path in files:
        assert re.match(r"# (Run|Not run)[:,] ", path.read_text()), path.name
    commands = [
        line
        for path in UNITS.glob("*.service")
        for line in re.findall(r"^ExecStart=/srv/stoa/(\S+)", path.read_text(), re.MULTILINE)
    ]
    assert len(commands) >= 3
    assert all((ROOT / command).exists() for command in commands)
