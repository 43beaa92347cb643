"""`make run` and its twin: the whole shop as processes, beside another run, and gone without a trace at the end."""

import contextlib
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import override_settings

from cassandra_db.session import get_session
from devtools import shop_run
from devtools.shop_run import RunError, ShopRun
from tests.environment import ROOT
from tests.waiting import wait_until
from tests.web_server import fetch_page, find_free_port

OPEN_SECONDS = 90.0


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ShopRun]:
    monkeypatch.setattr(shop_run, "RUN_FOLDER", tmp_path)
    for folder in ("runs", "logs"):
        (tmp_path / folder).mkdir()
    the_run = ShopRun(
        find_free_port(), is_development=False, say=print, environment=dict(os.environ)
    )
    yield the_run
    the_run.close()


def test_a_part_that_ends_by_itself_is_named_with_its_last_lines(run: ShopRun) -> None:
    run.launch_part("worker", [sys.executable, "-c", "print('no such table'); raise SystemExit(3)"])
    run.parts["worker"].process.wait(20)
    with pytest.raises(RunError, match=r"worker process ended \(exit code 3\)") as raised:
        run.check_parts()
    assert "no such table" in str(raised.value)


def wait_for_end(run: ShopRun, name: str) -> None:
    run.parts[name].process.wait(20)


def test_a_part_that_ends_by_itself_is_started_again_with_a_word(
    run: ShopRun, tmp_path: Path
) -> None:
    said: list[str] = []
    run.say = said.append
    once = "import pathlib, sys, time; p = pathlib.Path(sys.argv[1]); p.exists() and time.sleep(600); p.touch(); sys.exit(3)"
    run.launch_part("mail", [sys.executable, "-c", once, str(tmp_path / "was here")])
    run.launch_part("worker", [sys.executable, "-c", "import time; time.sleep(600)"])
    ended, other = run.parts["mail"].process, run.parts["worker"].process
    wait_for_end(run, "mail")
    run.restart_ended_parts()
    assert said == ["The mail process ended (exit code 3) and is started again"]
    assert run.parts["mail"].process.poll() is None
    assert run.parts["mail"].process.pid != ended.pid
    assert run.parts["worker"].process is other
    recorded = json.loads(shop_run.record_path(os.getpid()).read_text())["parts"]
    assert recorded["mail"] == run.parts["mail"].process.pid, "what `make stop` ends"


def test_an_errand_is_over_when_it_ends_and_says_so_only_if_it_failed(run: ShopRun) -> None:
    said: list[str] = []
    run.say = said.append
    for name, script in (("orders", "pass"), ("others", "print('sold out'); raise SystemExit(3)")):
        run.launch_part(name, [sys.executable, "-c", script], is_errand=True)
        wait_for_end(run, name)
        run.restart_ended_parts()
        run.check_parts()
        run.forget_ended_errands()
    assert run.parts == {}
    assert len(said) == 1
    assert "The others process ended (exit code 3)" in said[0]
    assert "sold out" in said[0]


def test_a_part_that_ends_again_and_again_ends_the_run_with_the_reason(run: ShopRun) -> None:
    run.launch_part("web", [sys.executable, "-c", "print('no such table'); raise SystemExit(3)"])
    wait_for_end(run, "web")
    for _ in range(shop_run.SOON_ENDS - 1):
        run.restart_ended_parts()
        wait_for_end(run, "web")
    with pytest.raises(RunError, match=r"web process ended \(exit code 3\), 3 times") as raised:
        run.restart_ended_parts()
    assert "no such table" in str(raised.value)
    # One that has run for a while is not counted with those.
    run.parts["web"].started_at -= shop_run.SOON_SECONDS
    run.restart_ended_parts()
    assert run.parts["web"].soon_ended == 0


def test_a_step_that_fails_is_reported_with_what_it_printed(run: ShopRun) -> None:
    with pytest.raises(RunError, match="no_such_command"):
        run.run_command("Trying", "no_such_command")


def test_only_a_demo_shop_is_filled_and_shows_its_logins(run: ShopRun) -> None:
    run.is_development = True
    run.environment["STOA_DEMO"] = "false"
    assert not run.is_demo
    assert "demo/mail" not in shop_run.welcome_text(run, ())
    run.environment["STOA_DEMO"] = "1"
    assert run.is_demo


def test_x113_an_empty_shop_opens_and_sells_on_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*shop_run.EMPTY_SHOP, "STOA_DEMO", "PUBLIC_URL"):
        monkeypatch.delenv(name, raising=False)
    assert "PAYMENT_METHODS" not in shop_run.make_environment(8123, development=False)
    monkeypatch.setenv("STOA_DEMO", "0")
    monkeypatch.setenv("BANK_ACCOUNT", "Mine|IBAN 1|BIC 2")
    monkeypatch.setenv("PUBLIC_URL", "https://shop.example")
    public = shop_run.make_environment(8123, development=False)
    assert not {"STOA_HTTPS", "EMAIL_URL", "PAYMENT_METHODS"} & public.keys(), (
        "that is for it to say"
    )
    monkeypatch.delenv("PUBLIC_URL")
    environment = shop_run.make_environment(8123, development=False)
    assert environment["STOA_HTTPS"] == "false", "a browser would be sent to HTTPS"
    assert (environment["PAYMENT_METHODS"], environment["BANK_ACCOUNT"]) == (
        "transfer",
        "Mine|IBAN 1|BIC 2",
    )


def test_closing_ends_also_what_a_part_has_started(run: ShopRun, tmp_path: Path) -> None:
    grandchild = tmp_path / "grandchild"
    script = (
        "import signal, subprocess, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit())\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(grandchild)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    run.launch_part("web", [sys.executable, "-c", script])
    wait_until(lambda: grandchild.exists() and grandchild.read_text())
    started = psutil.Process(int(grandchild.read_text()))
    run.close()
    # Adopted by init, it may stay in the table for a moment after its end.
    with contextlib.suppress(psutil.NoSuchProcess):
        assert (
            started.status() == psutil.STATUS_ZOMBIE
            or not psutil.wait_procs([started], timeout=5)[1]
        )


@contextlib.contextmanager
def a_run(port: int, keyspace: str, folder: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    folder.mkdir()
    screen = folder / "screen"
    environment = {
        name: value for name, value in os.environ.items() if name not in {"PUBLIC_URL", "EMAIL_URL"}
    }
    own = {"STATIC_ROOT": "static", "SEARCH_INDEX_DIR": "search", "MAILDIR": "mail"}
    environment |= {name: str(folder / value) for name, value in own.items()} | {
        "CASSANDRA_KEYSPACE": keyspace
    }
    with screen.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "serve", "--as-is", "--port", str(port)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield process, screen
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(60)


def wait_until_open(process: subprocess.Popen[bytes], screen: Path) -> str:
    def open_or_ended() -> bool:
        return "Ctrl-C closes the shop" in screen.read_text("utf-8") or process.poll() is not None

    wait_until(open_or_ended, "the shop is not open", seconds=OPEN_SECONDS)
    text = screen.read_text(encoding="utf-8")
    assert process.poll() is None, text
    return text


def test_two_runs_beside_each_other_each_end_what_they_started(tmp_path: Path) -> None:
    # Nothing is in these tables: what is looked at are the processes, and whether they answer.
    keyspace, port = f"stoa_run_{secrets.token_hex(4)}", find_free_port()
    environment = os.environ | {"CASSANDRA_KEYSPACE": keyspace}
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
    with a_run(port, keyspace, tmp_path / "first") as (first, first_screen):
        shown = wait_until_open(first, first_screen)
        assert f"http://127.0.0.1:{port}/" in shown
        assert "shopper@shop.example" in shown, "the demo logins are on the screen"
        with a_run(port, keyspace, tmp_path / "second") as (second, second_screen):
            shown = wait_until_open(second, second_screen)
            assert f"Port {port} is taken" in shown
            found = re.search(r"Shop +http://127\.0\.0\.1:(\d+)/", shown)
            assert found
            assert fetch_page(f"http://127.0.0.1:{found[1]}/healthz")[0] == 200
            parts = psutil.Process(second.pid).children()
            assert len(parts) == 3, "web server, worker, mail catcher"
            second.send_signal(signal.SIGINT)
            assert second.wait(60) == 0
            assert not any(part.is_running() for part in parts)
        assert fetch_page(f"http://127.0.0.1:{port}/healthz")[0] == 200, "the first run goes on"
        for part in psutil.Process(first.pid).children():
            part.kill()
        wait_until(
            lambda: first_screen.read_text(encoding="utf-8").count("is started again") >= 3,
            "not all parts were started again",
            seconds=OPEN_SECONDS,
        )
        fetch_page(f"http://127.0.0.1:{port}/healthz", until=200, seconds=OPEN_SECONDS)
        parts = psutil.Process(first.pid).children()
        assert len(parts) == 3
        first.terminate()
        assert first.wait(60) == 0
        assert not any(part.is_running() for part in parts)
    # The suite's node was not theirs to stop.
    get_session().execute(f"DROP KEYSPACE {keyspace}", timeout=180)


def test_s54_cheap_password_hashes_are_no_way_to_deploy() -> None:
    with pytest.raises(SystemCheckError, match=r"cassandra_db\.E006"):
        call_command("check", deploy=True)


def test_s54_a_demo_with_a_public_address_takes_no_money() -> None:
    public, live = "https://shop.example", "rk_live_123"
    refused = {
        (demo, address, key): bool(_refused_as("cassandra_db.E007", demo, address, key))
        for demo in (True, False)
        for address in (public, "http://127.0.0.1:8000")
        for key in (live, "sk_test_123", "")
    }
    assert [each for each, is_refused in refused.items() if is_refused] == [(True, public, live)]


def _refused_as(check_id: str, demo: bool, address: str, key: str) -> list[str]:
    with override_settings(DEMO=demo, PUBLIC_URL=address, STRIPE_SECRET_KEY=key):
        return [each.msg for each in run_checks() if each.id == check_id]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"SECRET_KEY": ""}, "SECRET_KEY"),
        ({"SECRET_KEY": "changeme"}, "SECRET_KEY is shorter"),
        ({"SECRET_KEY_FALLBACKS": "changeme"}, "SECRET_KEY_FALLBACKS is shorter"),
        ({"CASSANDRA_USERNAME": "cassandra", "CASSANDRA_PASSWORD": "cassandra"}, "superuser"),
        ({"CASSANDRA_HOSTS": "10.1.2.3", "STOA_DEMO": "0"}, "without a login"),
        ({"CHEAP_PASSWORD_HASHES": "1", "STOA_DEMO": "0"}, "CHEAP_PASSWORD_HASHES"),
        ({"DEBUG": "1", "PUBLIC_URL": "https://shop.example"}, "DEBUG is on"),
        (
            {
                "STOA_DEMO": "1",
                "PUBLIC_URL": "https://shop.example",
                "STRIPE_SECRET_KEY": "sk_live_123",
            },
            "would take real money",
        ),
        (
            {"STOA_DEMO": "0", "STOA_HTTPS": "0", "PUBLIC_URL": "https://shop.example"},
            "without HTTPS",
        ),
        ({"STOA_SHOWROOM": "1"}, "STOA_SHOWROOM is called STOA_DEMO now"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_s54_gunicorn_refuses_to_start_with_secrets_that_are_none(
    wrong: dict[str, str], message: str
) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "gunicorn",
            "-c",
            "gunicorn.conf.py",
            "-b",
            f"127.0.0.1:{find_free_port()}",
            "storefront.wsgi",
        ],
        cwd=ROOT,
        env=os.environ | {"DEBUG": "0"} | wrong,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode != 0
    assert message in done.stderr
