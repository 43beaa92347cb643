"""The doctor finds what is wrong and says what fixes it, on the node the suite runs on."""

import io
import socket
from pathlib import Path
from unittest.mock import Mock

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.test import override_settings

from devtools import doctor
from devtools.doctor import ADVICE, WRONG, Finding
from devtools.node.state import PROJECT_ROOT


def findings(*, level: str, about: str) -> list[Finding]:
    return [one for one in doctor.run_checks() if one.level == level and about in one.text]


def test_every_finding_that_is_not_good_names_what_fixes_it() -> None:
    for finding in doctor.run_checks():
        assert finding.fix or finding.level == doctor.GOOD or "next free one" in finding.text, (
            finding
        )


def test_the_suite_s_own_cluster_and_tables_are_in_order() -> None:
    assert not findings(level=WRONG, about="table")
    assert not findings(level=WRONG, about="Cassandra")
    assert not findings(level=ADVICE, about="Paxos")


@override_settings(SECRET_KEY="")
def test_a_missing_key_is_wrong() -> None:
    (found,) = findings(level=WRONG, about="SECRET_KEY")
    assert "token_urlsafe" in found.fix


@override_settings(
    DEBUG=True, DEMO=True, PUBLIC_URL="https://shop.example", ALLOWED_HOSTS=["localhost"]
)
def test_a_public_shop_must_not_run_in_debug_nor_as_a_demo_shop() -> None:
    assert findings(level=WRONG, about="DEBUG")
    assert findings(level=WRONG, about="demo logins")
    (refused,) = findings(level=WRONG, about="ALLOWED_HOSTS")
    assert refused.fix == "ALLOWED_HOSTS=shop.example"


@pytest.mark.parametrize("behind_proxy", [False, True])
def test_s68_a_proxy_that_the_settings_do_not_know_is_named(
    behind_proxy: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marker = PROJECT_ROOT / ".run" / f"unknown-proxy-{tmp_path.name}"
    monkeypatch.setattr("web.proxies.MARKER", marker)

    def found() -> list[str]:
        return [
            each.level
            for each in doctor.check_configuration()
            if "one network's limits" in each.text
        ]

    with override_settings(BEHIND_PROXY=behind_proxy, PUBLIC_URL="https://shop.example"):
        assert found() == ([] if behind_proxy else [WRONG])
    with override_settings(BEHIND_PROXY=behind_proxy):
        assert found() == []
        try:
            marker.touch()
            assert found() == ([] if behind_proxy else [ADVICE])
        finally:
            marker.unlink()


@override_settings(HTTPS=True, PUBLIC_URL="http://127.0.0.1:8000")
def test_a_shop_behind_https_must_mail_https_links() -> None:
    assert findings(level=WRONG, about="mailed links")


def test_a_mail_server_that_does_not_answer_is_named() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with override_settings(
            EMAIL_BACKEND="django.core.mail.backends.smtp.EmailBackend",
            EMAIL_HOST="127.0.0.1",
            EMAIL_PORT=port,
        ):
            assert findings(level=ADVICE, about=f"No mail server at 127.0.0.1:{port}")


def test_a_storage_that_takes_no_pictures_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_media().level == doctor.GOOD
    monkeypatch.setattr(default_storage, "save", Mock(side_effect=PermissionError("read-only")))
    found = doctor.check_media()
    assert found.level == doctor.WRONG
    assert "read-only" in found.text
    assert "MEDIA_ROOT" in found.fix


def test_replication_is_read_by_data_centre() -> None:
    factors = {
        "{'class': 'SimpleStrategy', 'replication_factor': '1'}": {"east": 1, "west": 1},
        "{'class': 'NetworkTopologyStrategy', 'east': '3', 'west': '2'}": {"east": 3, "west": 2},
    }
    assert {
        strategy: doctor.check_factors(strategy, {"east": 3, "west": 3}) for strategy in factors
    } == factors


@override_settings(SECRET_KEY="")
def test_the_command_ends_with_1_when_something_needed_is_wrong() -> None:
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=out)
    assert ended.value.code == 1
    assert "SECRET_KEY is not set" in out.getvalue()


def test_a_shop_without_a_gateway_fails_its_check() -> None:
    expected = {
        ("", False): [WRONG],
        ("none", False): [ADVICE],
        ("testbank", False): [WRONG],
        ("testbank", True): [],
    }
    levels = {}
    for named, is_demo in expected:
        with override_settings(PAYMENT_GATEWAY=named, DEMO=is_demo, DEBUG=False):
            about = [one for one in doctor.check_configuration() if "PAYMENT_GATEWAY" in one.fix]
        levels[named, is_demo] = [one.level for one in about]
    assert levels == expected
