"""The project's own Cassandra: jars, Java, ports, and one real node in a folder of its own."""

import errno
import hashlib
import os
import re
import socket
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
import requests

from devtools.node import announce_local_node, configuration, control, jars, java, machine, state
from devtools.node.errors import JarsMissing, JavaMissing, NodeDied, NodeError, WrongChecksum
from devtools.node.jars import Jar
from devtools.node.state import Cluster, Node


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def never(_: str) -> None:
    raise AssertionError("nothing was to be said")


# ---- the lock


def test_lock_names_each_jar_once_with_its_checksum() -> None:
    locked = jars.read_lock_file()
    assert jars.CASSANDRA in [jar.coordinates for jar in locked]
    assert len(locked) >= 90
    assert len({jar.path for jar in locked}) == len(locked)


def test_lock_has_the_native_parts_of_every_platform_we_promise() -> None:
    names = [
        jar.coordinates
        for jar in jars.read_lock_file()
        if "netty-transport-native" in jar.coordinates
    ]
    for platform in ("linux-x86_64", "linux-aarch_64", "osx-x86_64", "osx-aarch_64"):
        assert any(name.endswith(platform) for name in names), platform


def test_lock_names_no_repository() -> None:
    assert "://" not in jars.LOCK.read_text(encoding="utf-8")


def test_a_line_that_is_no_jar_is_named(tmp_path: Path) -> None:
    lock = tmp_path / "broken.lock"
    lock.write_text("# fine\norg.example:thing:1.0 sha256:tooshort\n", encoding="utf-8")
    with pytest.raises(NodeError, match=r"broken\.lock, line 2"):
        jars.read_lock_file(lock)


# ---- fetching

CONTENT = b"the right bytes"


@pytest.fixture
def jar(monkeypatch: pytest.MonkeyPatch) -> Jar:
    monkeypatch.setattr(jars, "PAUSE_SECONDS", 0.0)
    return Jar("org.example:thing:1.0:linux", hashlib.sha256(CONTENT).hexdigest())


def arriving(content: bytes) -> jars.Download:
    def download(jar: Jar, folder: Path) -> Path:
        path = folder / jar.path.name
        path.write_bytes(content)
        return path

    return download


def test_a_jar_with_the_right_bytes_is_kept_where_maven_would(tmp_path: Path, jar: Jar) -> None:
    said: list[str] = []
    (path,) = jars.fetch_jars([jar], tmp_path, said.append, arriving(CONTENT))
    assert path == tmp_path / "org/example/thing/1.0/thing-1.0-linux.jar"
    assert path.read_bytes() == CONTENT
    assert said
    assert [child.name for child in tmp_path.iterdir()] == ["org"], (
        "no half-fetched file is left behind"
    )


def test_a_jar_with_wrong_bytes_is_refused(tmp_path: Path, jar: Jar) -> None:
    with pytest.raises(WrongChecksum, match=re.escape(jar.sha256)):
        jars.fetch_jars([jar], tmp_path, print, arriving(b"something else"))
    assert not (tmp_path / jar.path).exists()


def test_a_jar_that_rotted_in_the_store_is_fetched_again(tmp_path: Path, jar: Jar) -> None:
    (tmp_path / jar.path).parent.mkdir(parents=True)
    (tmp_path / jar.path).write_bytes(CONTENT[:-1])
    jars.fetch_jars([jar], tmp_path, print, arriving(CONTENT))
    assert (tmp_path / jar.path).read_bytes() == CONTENT


def test_jars_that_are_here_need_no_network(tmp_path: Path, jar: Jar) -> None:
    jars.fetch_jars([jar], tmp_path, print, arriving(CONTENT))
    assert jars.fetch_jars([jar], tmp_path, never, Mock(side_effect=requests.ConnectionError)) == [
        tmp_path / jar.path
    ]


def test_a_broken_transfer_is_tried_again(tmp_path: Path, jar: Jar) -> None:
    tries: list[int] = []

    def flaky(jar: Jar, folder: Path) -> Path:
        tries.append(1)
        if len(tries) < 3:
            raise requests.ConnectionError("reset by peer")
        return arriving(CONTENT)(jar, folder)

    jars.fetch_jars([jar], tmp_path, print, flaky)
    assert len(tries) == 3


def test_offline_is_said_in_words(tmp_path: Path, jar: Jar) -> None:
    with pytest.raises(JarsMissing, match="offline"):
        jars.fetch_jars(
            [jar], tmp_path, print, Mock(side_effect=requests.ConnectionError("no route to host"))
        )


# ---- Java


def a_java(folder: Path, version: str) -> Path:
    path = folder / "bin" / "java"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-04-15' >&2\n", encoding="utf-8"
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_java_is_asked_for_its_version(tmp_path: Path) -> None:
    majors = {"17.0.15": 17, "1.8.0_412": 8, "21": 21, "11.0.2": 11}
    found = {
        version: java.ask_version(a_java(tmp_path / version, version), "a test")
        for version in majors
    }
    assert {version: each and each.major for version, each in found.items()} == majors


def test_java_home_wins_when_it_is_a_17(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = a_java(tmp_path, "17.0.1")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert java.find_java().path == path


def test_a_java_of_another_version_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(a_java(tmp_path, "21.0.1").parents[1]))
    assert java.find_java().major == 17


def test_without_a_17_the_message_says_what_was_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = a_java(tmp_path, "21.0.1")
    monkeypatch.setattr(
        java, "list_candidates", lambda: iter([("JAVA_HOME", path), ("PATH", tmp_path / "none")])
    )
    with pytest.raises(JavaMissing) as raised:
        java.find_java()
    assert "is Java 21.0.1" in str(raised.value)
    assert "does not answer" in str(raised.value)


# ---- ports and records


def test_a_taken_port_is_seen_and_the_next_free_one_chosen(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert not machine.is_port_free("127.0.0.1", port)
    assert machine.find_free_port(port, ["127.0.0.1"]) > port


def test_a_port_must_be_free_on_every_address_of_the_cluster(listener: socket.socket) -> None:
    port = listener.getsockname()[1]
    assert machine.find_free_port(port, ["127.0.0.2", "127.0.0.1"]) != port


def test_a_port_range_without_a_free_one_is_said(listener: socket.socket) -> None:
    with pytest.raises(NodeError, match="No free port"):
        machine.find_free_port(listener.getsockname()[1], ["127.0.0.1"], tries=1)


def a_cluster(pid: int, *, kept: bool = True) -> Cluster:
    return Cluster((Node("node1", "127.0.0.1", 7199, pid),), 9555, 7555, 512, kept)


def test_a_record_is_read_back_and_gives_the_settings_where_the_node_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {})
    announce_local_node(tmp_path)
    assert "CASSANDRA_LOCAL_NODE" not in os.environ
    state.save_cluster(tmp_path, a_cluster(1))
    assert state.load_cluster(tmp_path) == a_cluster(1)
    announce_local_node(tmp_path)
    assert os.environ == {
        "CASSANDRA_LOCAL_NODE": "127.0.0.1:9555",
        "CASSANDRA_LOCAL_JMX": "127.0.0.1:7199",
    }


def test_half_a_record_counts_as_none(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"nodes": [{"na', encoding="utf-8")
    assert state.load_cluster(tmp_path) is None


def test_a_process_that_took_over_the_number_is_not_our_node(tmp_path: Path) -> None:
    state.save_cluster(tmp_path, a_cluster(os.getpid()))
    assert control.list_running_nodes(state.load_cluster(tmp_path), tmp_path) == []
    assert [one.condition for one in control.list_node_statuses(home=tmp_path)] == ["down"]
    assert control.stop_cluster(home=tmp_path, say=never) is False
    with pytest.raises(NodeError, match="No node1 runs here"):
        control.kill_node("node1", home=tmp_path, say=never)


def test_two_nodes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NodeError, match="one node or three"):
        control.start_cluster(2, home=tmp_path)


@pytest.fixture
def without_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "find_java", lambda: java.Java(Path("java"), "17.0.1", "a test"))
    monkeypatch.setattr(jars, "fetch_jars", lambda *_: [])


@pytest.mark.usefixtures("without_jars")
def test_a_start_that_fails_keeps_its_ports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = replace(a_cluster(0), cql_port=19555, storage_port=17555)
    state.save_cluster(tmp_path, before)
    with monkeypatch.context() as disk:
        disk.setattr(
            configuration,
            "write_files",
            Mock(side_effect=OSError(errno.ENOSPC, "No space left on device")),
        )
        with pytest.raises(NodeError, match="No space left"):
            control.start_cluster(home=tmp_path, say=print)
    # Or it starts, and ends as it finds no room for its log.
    monkeypatch.setattr(control, "spawn", lambda *_: subprocess.Popen(["true"]))
    with pytest.raises(NodeDied):
        control.start_cluster(home=tmp_path, say=print)
    kept = state.load_cluster(tmp_path)
    assert kept
    assert (kept.cql_port, kept.storage_port) == (before.cql_port, before.storage_port)


@pytest.mark.usefixtures("without_jars")
def test_a_clash_of_ports_is_seen_however_much_was_logged_after_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[configuration.NodePlan] = []

    def launch(plans: list[configuration.NodePlan], *_: object) -> Cluster:
        tried.extend(plans)
        if len(tried) == 1:
            logs = plans[0].folder / "logs"
            logs.mkdir(parents=True)
            lines = ["ERROR Port already in use: 7199", *["INFO shutting down"] * 1000]
            (logs / "system.log").write_text("\n".join(lines), encoding="utf-8")
            raise NodeDied("It ended", control.last_log_lines(plans[0].folder))
        return a_cluster(0)

    monkeypatch.setattr(control, "launch", launch)
    control.start_cluster(home=tmp_path, say=print)
    first, second = tried
    assert first.jmx_port != second.jmx_port


# ---- configuration


def a_plan(folder: Path, number: int = 1, of: int = 1) -> configuration.NodePlan:
    addresses = [f"127.0.0.{n}" for n in range(1, of + 1)]
    return configuration.NodePlan(folder, number, of, addresses, 9042, 7000, 7199, 512)


def test_a_node_listens_on_loopback_only(tmp_path: Path) -> None:
    yaml = configuration.yaml_settings(a_plan(tmp_path))
    addresses = {key: value for key, value in yaml.items() if key.endswith("_address")}
    assert addresses == {"listen_address": "127.0.0.1", "rpc_address": "127.0.0.1"}


def test_three_nodes_own_a_third_of_the_ring_each(tmp_path: Path) -> None:
    tokens = [a_plan(tmp_path, number, 3).token for number in (1, 2, 3)]
    assert tokens == [-(2**63), -3074457345618258603, 3074457345618258602]


# ---- a real node


@pytest.mark.alone
def test_a_node_starts_beside_the_others_and_stops(tmp_path: Path) -> None:
    said: list[str] = []
    with control.borrow_cluster(home=tmp_path, say=said.append) as cluster:
        try:
            assert control.is_answering_cql("127.0.0.1", cluster.cql_port)
            assert cluster.cql_port != getattr(
                state.load_cluster(state.default_home()), "cql_port", 0
            ), "two checkouts never share a port"
            assert [one.condition for one in control.list_node_statuses(home=tmp_path)] == ["up"]
            # Starting twice is harmless.
            assert (
                control.start_cluster(home=tmp_path, say=said.append, keep=False).nodes
                == cluster.nodes
            )
            with pytest.raises(NodeError, match="of another size"):
                control.start_cluster(3, home=tmp_path, say=said.append, keep=False)
            # A second borrower leaves the node to the first.
            with control.borrow_cluster(home=tmp_path, say=said.append):
                pass
            assert control.is_answering_cql("127.0.0.1", cluster.cql_port)
        except BaseException:
            print(control.last_log_lines(control.node_folder(tmp_path, 1, "node1")))
            raise
    assert not control.is_answering_cql("127.0.0.1", cluster.cql_port)
    assert [one.condition for one in control.list_node_statuses(home=tmp_path)] == ["down"]
    log = (control.node_folder(tmp_path, 1, "node1") / "logs" / "system.log").read_text(
        encoding="utf-8"
    )
    assert "Cassandra shutdown complete" in log, "a stop lets the node end by itself"
    control.wipe_cluster(home=tmp_path, say=said.append)
    assert state.load_cluster(tmp_path) is None
    assert not list(tmp_path.glob("cluster-of-*"))


@pytest.mark.alone
def test_a_node_that_dies_while_starting_is_reported_with_its_last_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = configuration.yaml_settings
    monkeypatch.setattr(
        configuration,
        "yaml_settings",
        lambda plan: real(plan) | {"partitioner": "org.example.None"},
    )
    with pytest.raises(NodeDied) as raised:
        control.start_cluster(home=tmp_path, say=print)
    assert "ended while starting" in str(raised.value)
    assert "org.example.None" in raised.value.log
    kept = state.load_cluster(tmp_path)
    assert kept, "the next start takes the same ports"
    assert control.list_running_nodes(kept, tmp_path) == []
