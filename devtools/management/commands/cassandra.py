"""`manage.py cassandra start|stop|kill|status|wipe`: control this checkout's own Cassandra."""

import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from devtools.node import NodeError, control, jars, state


class Command(BaseCommand):
    help = "Start, stop, kill, look at or wipe this checkout's own Cassandra."
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action", choices=["start", "stop", "kill", "status", "wipe", "fetch", "lock"]
        )
        parser.add_argument(
            "--nodes", type=int, default=1, choices=[1, 3], help="size of the cluster (start)"
        )
        parser.add_argument(
            "--node", type=int, default=1, help="which one to end as a crash would (kill)"
        )
        parser.add_argument("--no-input", action="store_true", help="wipe without asking")

    def handle(
        self, *args: Any, action: str, nodes: int, node: int, no_input: bool, **options: Any
    ) -> None:
        try:
            match action:
                case "start":
                    control.start_cluster(nodes, say=self.say)
                case "stop":
                    self.say(
                        "Stopped."
                        if control.stop_cluster(say=self.say)
                        else "No Cassandra of this checkout runs."
                    )
                case "kill":
                    control.kill_node(f"node{node}", say=self.say)
                case "status":
                    self.print_status()
                case "wipe":
                    self.wipe(no_input)
                case "fetch":
                    paths = jars.fetch_jars(jars.read_lock_file(), jars.default_store(), self.say)
                    self.say(
                        f"All {len(paths)} jars are in {jars.default_store()}, checksums right."
                    )
                case "lock":
                    self.say(f"{jars.write_lock_file(say=self.say)} jars locked in {jars.LOCK}")
        except NodeError as error:
            raise CommandError(str(error)) from error

    def say(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()

    def print_status(self) -> None:
        home = state.default_home()
        cluster, report = state.load_cluster(home), control.list_node_statuses(home=home)
        if cluster is None:
            self.say(
                "No Cassandra was started in this checkout. `manage.py cassandra start` starts one."
            )
            sys.exit(1)
        up = sum(one.condition == "up" for one in report)
        self.say(f"Cassandra {jars.VERSION}: {up} of {len(report)} up, heap {cluster.heap_mb} MiB")
        for one in report:
            memory = f", {one.memory_mb} MiB" if one.memory_mb else ""
            process = f"process {one.node.pid}{memory}" if one.condition != "down" else "no process"
            folder = control.node_folder(home, len(report), one.node.name)
            self.say(
                f"  {one.node.name}  {one.node.address}:{cluster.cql_port}  {one.condition}  {process}"
            )
            self.say(
                f"         JMX 127.0.0.1:{one.node.jmx_port}  log {folder / 'logs' / 'system.log'}"
            )
        if up < len(report):
            sys.exit(1)

    def wipe(self, no_input: bool) -> None:
        if not no_input:
            if not sys.stdin.isatty():
                raise CommandError(
                    "This deletes all data of this checkout's Cassandra; say --no-input to do it."
                )
            if input("Delete all data of this checkout's Cassandra? Type yes: ").strip() != "yes":
                raise CommandError("Nothing was deleted.")
        control.wipe_cluster(say=self.say)
        self.say("Stopped and wiped.")
