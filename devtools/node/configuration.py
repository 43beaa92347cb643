"""Makes the configuration of a local Cassandra node: its files and its command line.

It follows Cassandra's own `cassandra_latest.yaml` (trie memtables and indexes, unified compaction, Paxos v2, storage-attached
indexes), with the memory of a laptop. Nodes listen on loopback only.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MAIN_CLASS = "org.apache.cassandra.service.CassandraDaemon"

# The ring is cut into equal parts, so that each of three nodes owns a third.
_RING_START, _RING_SIZE = -(2**63), 2**64

# Packages inside the JDK that Cassandra uses. Without them it does not start on Java 17.
_EXPORTS = {
    "java.base": ("jdk.internal.misc", "jdk.internal.ref", "sun.nio.ch", "java.lang.ref"),
    "java.management.rmi": ("com.sun.jmx.remote.internal.rmi",),
    "java.rmi": ("sun.rmi.registry", "sun.rmi.server", "sun.rmi.transport.tcp"),
    "java.sql": ("java.sql",),
    "jdk.unsupported": ("sun.misc",),
    "jdk.attach": ("sun.tools.attach",),
}
_OPENS = {
    "java.base": (
        *(
            "java.io",
            "java.lang",
            "java.lang.module",
            "java.lang.reflect",
            "java.math",
            "java.net",
            "java.nio",
        ),
        *("java.util", "java.util.concurrent", "java.util.concurrent.atomic", "sun.nio.ch"),
        *("jdk.internal.loader", "jdk.internal.math", "jdk.internal.module", "jdk.internal.ref"),
        *("jdk.internal.reflect", "jdk.internal.util.jar"),
    ),
    "jdk.management": ("com.sun.management.internal",),
}

_LOGBACK = """<configuration scan="false">
  <appender name="FILE" class="ch.qos.logback.core.rolling.RollingFileAppender">
    <file>${cassandra.logdir}/system.log</file>
    <rollingPolicy class="ch.qos.logback.core.rolling.FixedWindowRollingPolicy">
      <fileNamePattern>${cassandra.logdir}/system.log.%i</fileNamePattern>
      <minIndex>1</minIndex>
      <maxIndex>2</maxIndex>
    </rollingPolicy>
    <triggeringPolicy class="ch.qos.logback.core.rolling.SizeBasedTriggeringPolicy">
      <maxFileSize>10MB</maxFileSize>
    </triggeringPolicy>
    <encoder><pattern>%-5level [%thread] %date{ISO8601} %F:%L - %msg%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="FILE"/></root>
  <logger name="com.datastax.driver" level="WARN"/>
</configuration>
"""

_HASTY_PROPERTIES = {
    # A node looks at the clock five hundred times a second otherwise, whether there is work or not.
    "cassandra.approximate_time_precision_ms": 10,
    # Each table's histograms are added up when it is dropped. Two stripes are for many threads that write them.
    "cassandra.dehr_stripe_count": 1,
}


@dataclass(frozen=True, slots=True)
class NodePlan:
    """The configuration of one node."""

    folder: Path
    number: int
    node_count: int
    addresses: Sequence[str]
    cql_port: int
    storage_port: int
    jmx_port: int
    heap_mb: int
    # A node of the tests. Schema changes do not wait for a flush: 58 ms a table instead of 185, but a node that is killed loses
    # these changes. Nothing is tuned for pauses or for large tables, which saves a quarter of the processor time.
    is_hasty: bool = False

    @property
    def name(self) -> str:
        return f"node{self.number}"

    @property
    def address(self) -> str:
        return self.addresses[self.number - 1]

    @property
    def token(self) -> int:
        return _RING_START + _RING_SIZE * (self.number - 1) // self.node_count


def _place_in_cluster(plan: NodePlan) -> dict[str, object]:
    data = plan.folder / "data"
    return {
        "cluster_name": f"stoa-{plan.node_count}",
        "num_tokens": 1,
        "initial_token": str(plan.token),
        # The tokens are fixed and the data starts empty on all nodes, so there is nothing to stream when joining.
        "auto_bootstrap": False,
        "partitioner": "org.apache.cassandra.dht.Murmur3Partitioner",
        "endpoint_snitch": "SimpleSnitch",
        "seed_provider": [
            {
                "class_name": "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters": [{"seeds": ",".join(plan.addresses)}],
            }
        ],
        "listen_address": plan.address,
        "rpc_address": plan.address,
        "native_transport_port": plan.cql_port,
        "storage_port": plan.storage_port,
        "data_file_directories": [str(data / "sstables")],
        "commitlog_directory": str(data / "commitlog"),
        "hints_directory": str(data / "hints"),
        "saved_caches_directory": str(data / "saved_caches"),
        "cdc_raw_directory": str(data / "cdc_raw"),
    }


def yaml_settings(plan: NodePlan) -> dict[str, object]:
    """Return the settings for the node's `cassandra.yaml`."""
    return _place_in_cluster(plan) | {
        "commitlog_sync": "periodic",
        "commitlog_sync_period": "1s",
        "commitlog_segment_size": "16MiB",
        "commitlog_total_space": "512MiB",
        "disk_failure_policy": "stop",
        "commit_failure_policy": "stop",
        # The new storage engine needs a cluster that never has to talk to older versions.
        "storage_compatibility_mode": "NONE",
        "memtable": {
            "configurations": {
                "skiplist": {"class_name": "SkipListMemtable"},
                "trie": {"class_name": "TrieMemtable"},
                "default": {"inherits": "trie"},
            }
        },
        # A read copies what is off the heap. Each change of the schema reads the whole schema.
        "memtable_allocation_type": "heap_buffers" if plan.is_hasty else "offheap_objects",
        "sstable": {"selected_format": "bti"},
        # With another value, each reading thread keeps 256 KiB for each scanned file, and scans of a whole shop fill the memory.
        "compressed_read_ahead_buffer_size": "0KiB",
        "column_index_size": "4KiB",
        "uuid_sstable_identifiers_enabled": True,
        "default_compaction": {
            "class_name": "UnifiedCompactionStrategy",
            "parameters": {
                "scaling_parameters": "T4",
                "max_sstables_to_compact": 64,
                "target_sstable_size": "1GiB",
                "sstable_growth": 0.3333333333333333,
                "min_sstable_size": "100MiB",
            },
        },
        "concurrent_compactors": 1,
        "default_secondary_index": "sai",
        "default_secondary_index_enabled": True,
        # A conditional write takes two round trips instead of four.
        "paxos_variant": "v2",
        # A dropped test keyspace must not stay on the disk as a snapshot.
        "auto_snapshot": False,
        "authenticator": "AllowAllAuthenticator",
        "authorizer": "AllowAllAuthorizer",
        "cdc_enabled": False,
    }


def write_files(plan: NodePlan) -> None:
    """Write the node's configuration files below its folder."""
    conf = plan.folder / "conf"
    for folder in (conf, plan.folder / "data", plan.folder / "logs"):
        folder.mkdir(parents=True, exist_ok=True)
    # JSON is YAML, and it quotes any path.
    (conf / "cassandra.yaml").write_text(
        json.dumps(yaml_settings(plan), indent=2) + "\n", encoding="utf-8"
    )
    (conf / "logback.xml").write_text(_LOGBACK, encoding="utf-8")


def start_command(plan: NodePlan, java: Path, jars: Sequence[Path]) -> list[str]:
    """Return the command line that starts the node in the foreground."""
    conf = plan.folder / "conf"
    jamm = [f"-javaagent:{jar}" for jar in jars if jar.name.startswith("jamm-")]
    properties = {
        "cassandra.config": (conf / "cassandra.yaml").as_uri(),
        "cassandra.logdir": plan.folder / "logs",
        "logback.configurationFile": conf / "logback.xml",
        "cassandra.jmx.local.port": plan.jmx_port,
        "cassandra-foreground": "yes",
        # A single node has no other node to wait for, and three nodes on one machine find each other in a moment.
        "cassandra.skip_wait_for_gossip_to_settle": 0,
        "cassandra.ring_delay_ms": 1 if plan.node_count == 1 else 5000,
        "cassandra.consistent.rangemovement": "false",
        "cassandra.superuser_setup_delay_ms": 0,
        "cassandra.unsafesystem": "true" if plan.is_hasty else "false",
        **(_HASTY_PROPERTIES if plan.is_hasty else {}),
        "java.io.tmpdir": plan.folder / "tmp",
        "java.net.preferIPv4Stack": "true",
        "java.rmi.server.hostname": "127.0.0.1",
        "jdk.attach.allowAttachSelf": "true",
        "jna.nosys": "true",
        "io.netty.tryReflectionSetAccessible": "true",
        "io.netty.eventLoop.maxPendingTasks": 65536,
        "file.encoding": "UTF-8",
    }
    return [
        str(java),
        *_memory_flags(plan),
        f"-XX:MaxDirectMemorySize={plan.heap_mb // 2}m",
        "-Xss512k",
        "-XX:+ExitOnOutOfMemoryError",
        "-XX:-UsePerfData",
        "-XX:+IgnoreUnrecognizedVMOptions",
        *os.environ.get("JVM_EXTRA_OPTS", "").split(),
        *jamm,
        *_module_flags("--add-exports", _EXPORTS),
        *_module_flags("--add-opens", _OPENS),
        storage_property(plan.folder),
        *(f"-D{name}={value}" for name, value in properties.items()),
        "-cp",
        os.pathsep.join(str(jar) for jar in jars),
        MAIN_CLASS,
    ]


def _memory_flags(plan: NodePlan) -> list[str]:
    heap, largest = plan.heap_mb, f"-Xmx{plan.heap_mb}m"
    # Below a gibibyte the collector's own bookkeeping costs more than short pauses save.
    if heap < 1024:
        return [f"-Xms{heap // 2}m", largest, "-XX:+UseSerialGC"]
    # Nearly all that a test's node makes is garbage when the young generation is full.
    if plan.is_hasty:
        return [f"-Xms{heap}m", largest, f"-Xmn{heap * 5 // 16}m", "-XX:+UseSerialGC"]
    return [f"-Xms{heap // 2}m", largest, "-XX:+UseG1GC", "-XX:+UseStringDeduplication"]


def storage_property(folder: Path) -> str:
    """Return the command-line argument with a node's data folder. It identifies the process of the node."""
    return f"-Dcassandra.storagedir={folder / 'data'}"


def _module_flags(flag: str, modules: dict[str, tuple[str, ...]]) -> list[str]:
    return [
        f"{flag}={module}/{package}=ALL-UNNAMED"
        for module, packages in modules.items()
        for package in packages
    ]
