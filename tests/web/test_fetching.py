"""Files at addresses that people typed: they come from public hosts only, by https only, and cost little whatever a host does."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.test import override_settings

from tests.remote_host import (
    RemoteHost,
    run_remote_host,
    send,
    send_slowly,
    send_status,
    write_certificate,
)
from web import fetching
from web.fetching import FetchFailed, check_url, fetch_file, is_public

MOST = 1000


@pytest.fixture
def host() -> Iterator[RemoteHost]:
    with run_remote_host() as host, override_settings(FETCH_TEST_HOSTS=[host.name]):
        yield host


def fetch(url: str) -> bytes:
    return fetch_file(url, MOST, "image/jpeg")


def refusal(url: str) -> tuple[str, bool]:
    """Why nothing comes from an address, and whether a later attempt can succeed."""
    with pytest.raises(FetchFailed) as failed:
        fetch(url)
    return str(failed.value), failed.value.is_temporary


PUBLIC = ["8.8.8.8", "203.0.112.1", "2606:4700:4700::1111"]
NOT_PUBLIC = [
    *("127.0.0.1", "127.9.9.9", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1"),  # noqa: S104
    *("169.254.169.254", "100.64.0.1", "192.0.0.8", "192.0.2.1", "198.18.0.1", "192.88.99.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "2001:db8::1"),
    # They lead to IPv4 hosts: mapped, NAT64, 6to4, Teredo.
    *("::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1"),
    *("2002:7f00:1::", "2001::1", "nonsense", ""),
]


def test_s118_only_addresses_of_the_public_internet_are_public() -> None:
    assert [each for each in PUBLIC if not is_public(each)] == []
    assert [each for each in NOT_PUBLIC if is_public(each)] == []


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://shop.example/a.jpg",
            "ftp://shop.example/",
            "file:///etc/passwd",
            "//shop.example",
        ),
        *("https://", "https:///a.jpg", "https://[::1", "https://user@shop.example/", "a.jpg", ""),
        *("https://shop.example:8443/", "https://shop.example:x/", "https://shop.example:22/"),
        *("http://127.0.0.1:8000/", f"https://shop.example/{'x' * 2000}"),
    ],
)
def test_s118_an_address_is_https_and_has_no_user_or_port(url: str) -> None:
    with pytest.raises(FetchFailed) as failed:
        check_url(url)
    assert not failed.value.is_temporary


def resolve_to(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[tuple[str, int]]:
    """Resolve each name to these addresses, one list at a time; return where connections were made to."""
    left, connected = list(answers), []

    def resolve(host: str, port: int, **_: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in left.pop(0)]

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    return connected


def test_s118_a_name_is_resolved_once_and_all_its_addresses_have_to_be_public(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # A second question would be answered with this machine.
    connected = resolve_to(monkeypatch, ["8.8.8.8"], ["127.0.0.1"])
    assert refusal("https://rebinding.example/a.jpg") == ("The host didn’t answer.", True)
    assert connected == [("8.8.8.8", 443)]
    for addresses in (["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["::ffff:169.254.169.254"]):
        connected = resolve_to(monkeypatch, addresses)
        assert refusal("https://shop.example/a.jpg") == ("This host isn’t public.", False)
        assert connected == []
    # Two kinds of addresses: the second one is tried, too.
    connected = resolve_to(monkeypatch, ["2606:4700:4700::1111", "8.8.8.8"])
    assert refusal("https://shop.example/a.jpg") == ("The host didn’t answer.", True)
    assert connected == [("2606:4700:4700::1111", 443), ("8.8.8.8", 443)]


def test_s118_numbers_that_mean_this_machine_are_no_public_host() -> None:
    for name in ("localhost", "127.1", "2130706433", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]"):
        assert refusal(f"https://{name}/a.jpg") == ("This host isn’t public.", False), name


def test_s118_redirects_are_checked_each_time_and_counted(
    host: RemoteHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.answers = {
        "/a.jpg": send(b"picture"),
        "/moved": send_status(301, "/a.jpg"),
        "/inside": send_status(302, "http://127.0.0.1:1/secret"),
        "/local": send_status(307, "https://localhost/secret"),
        "/file": send_status(308, "file:///etc/passwd"),
        "/loop": send_status(303, "/loop"),
        "/nowhere": send_status(302),
    }
    assert fetch(host.url("/moved")) == b"picture"
    assert refusal(host.url("/inside")) == ("Enter an address that begins with https://.", False)
    assert refusal(host.url("/local")) == ("This host isn’t public.", False)
    assert refusal(host.url("/file")) == ("Enter an address that begins with https://.", False)
    host.asked.clear()
    assert refusal(host.url("/loop")) == ("There are too many redirects.", False)
    assert len(host.asked) == fetching.MAX_REDIRECTS + 1
    assert refusal(host.url("/nowhere")) == ("There are too many redirects.", False)


def test_x536_what_may_pass_is_tried_again_and_what_will_not_is_not(host: RemoteHost) -> None:
    host.answers = {f"/{each}": send_status(each) for each in (403, 404, 410, 429, 500, 503)}
    for status, is_temporary in (
        (403, False),
        (404, False),
        (410, False),
        (429, True),
        (500, True),
        (503, True),
    ):
        text = f"The host answered with status {status}."
        assert refusal(host.url(f"/{status}")) == (text, is_temporary)
    sent = host.headers[0]
    assert (sent["Host"], sent["Accept"]) == (host.name, "image/jpeg")
    assert "Cookie" not in sent


def test_s119_a_file_is_bounded_in_bytes_and_time(
    host: RemoteHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    host.answers = {
        "/most": send(b"x" * MOST),
        "/more": send(b"x" * (MOST + 1)),
        "/endless": send(b"x" * 10_000_000, has_length=False),
        "/slow": send_slowly(host.released),
    }
    assert fetch(host.url("/most")) == b"x" * MOST
    for path in ("/more", "/endless"):
        assert refusal(host.url(path)) == ("This file has more than 0 MB.", False)
    monkeypatch.setattr(fetching, "_FILE_SECONDS", 0.2)
    assert refusal(host.url("/slow"))[1]


def test_s118_the_certificate_has_to_be_that_of_the_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    certificate = write_certificate(tmp_path, "pictures.example")
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    monkeypatch.setattr(fetching, "_get_context", ssl.create_default_context)
    with run_remote_host(certificate) as host:
        host.answers = {"/a.jpg": send(b"picture")}
        resolve = socket.getaddrinfo

        def resolve_here(name: str, *rest: Any, **named: Any) -> Any:
            return resolve("127.0.0.1" if name.endswith(".example") else name, *rest, **named)

        monkeypatch.setattr(socket, "getaddrinfo", resolve_here)
        monkeypatch.setattr(fetching, "is_public", lambda address: address == "127.0.0.1")
        monkeypatch.setattr(fetching, "_HTTPS_PORT", host.port)
        assert fetch("https://pictures.example/a.jpg") == b"picture"
        said = refusal("https://other.example/a.jpg")
        assert said == ("The host’s certificate isn’t valid.", True)
        assert host.asked == ["/a.jpg"]


def test_s118_hosts_of_a_test_are_refused_when_a_shop_is_deployed() -> None:
    def found() -> list[str]:
        checked = run_checks(include_deployment_checks=True)
        return [str(each.id) for each in checked if each.id == "cassandra_db.E010"]

    assert found() == []
    with override_settings(FETCH_TEST_HOSTS=["127.0.0.1:8403"]):
        assert found() == ["cassandra_db.E010"]
