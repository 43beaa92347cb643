"""Writes what comes in a stream, behind the requests' backs: in one thread of each process, in batches of one partition.

A request puts what it has into a queue in memory and goes on. What has waited is written every half second, so a crash loses at most the last
second. When the queue is full, as while Cassandra is away, what comes is shed and counted: pages come first. Whatever is written has its key and
its time before it is sent first, so it can be sent again.
"""

import atexit
import logging
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized
from datetime import timedelta
from queue import Empty, Full, Queue
from time import monotonic
from typing import Generic, TypeVar

from cassandra.cluster import ResponseFuture
from cassandra.query import BatchStatement, BatchType, BoundStatement
from prometheus_client import Counter

from cassandra_db import LOCAL_QUORUM, CassandraUnavailable
from cassandra_db.configuration import WRITE
from cassandra_db.session import DRIVER_ERRORS, get_session

MAX_WAITING = 10_000
MAX_BATCH = 100
FLUSH_SECONDS = 0.5
# So long a batch is tried; an hour of events is added up again a while longer (analytics.roll_up.LATEST_EVENT).
MAX_DELAY = timedelta(minutes=5)
RETRY_SECONDS = 2.0
SHUTDOWN_SECONDS = 3.0
SHED = Counter("stoa_events_shed", "Events and readings that were not written", ("kind",))
log = logging.getLogger(__name__)

Item = TypeVar("Item")
Batch = TypeVar("Batch", bound=Sized)


class BatchWriter(ABC, Generic[Item, Batch]):
    """The queue of a process, and the thread that empties it, which starts with the first thing: it outlives no fork."""

    kind = ""  # what is written, in a word

    def __init__(self) -> None:
        self.shed_count = 0
        self._lock = threading.Lock()
        self._begin()

    def _begin(self) -> None:
        self._waiting: Queue[Item | None] = Queue(MAX_WAITING)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def make_batches(self, items: Sequence[Item]) -> list[Batch]:
        """Return things by partition, at most MAX_BATCH of them together."""

    @abstractmethod
    def bind(self, batch: Batch) -> list[BoundStatement]:
        """Return a batch's statements, each with its own timestamp, the same each time."""

    @abstractmethod
    def note_written(self, batches: Sequence[Batch]) -> None:
        """Go on with what stands now. Raises CassandraUnavailable: that is then done with the next ones."""

    def put(self, *items: Item) -> bool:
        """Let things be written soon, or shed those for which there is no room; return whether there was room for all. Never waits."""
        has_room = True
        for item in items:
            try:
                self._waiting.put_nowait(item)
            except Full:
                has_room = False
                self._shed(1)
        if self._thread is None:
            self._start()
        return has_room

    def has_room(self, count: int) -> bool:
        """Return whether so many may be put now."""
        return self._waiting.qsize() + count <= MAX_WAITING

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name=self.kind, daemon=True)
                self._thread.start()

    def forget_after_fork(self) -> None:
        """Begin anew in a child process, which has neither the thread nor a right to what its parent has to write."""
        self._lock = threading.Lock()
        self._begin()

    def close(self) -> None:
        """Write what waits, for some seconds at most, and end the thread; what comes next starts another."""
        thread = self._thread
        if thread is None:
            return
        self._stopping.set()
        try:
            self._waiting.put_nowait(None)
        except Full:
            log.info("the queue of %s is full at the end", self.kind)
        thread.join(SHUTDOWN_SECONDS)
        self._begin()

    def _run(self) -> None:
        waiting, stopping = self._waiting, self._stopping
        while not (stopping.is_set() and waiting.empty()):
            first = waiting.get()
            stopping.wait(FLUSH_SECONDS)
            items = [first] if first else []
            while len(items) < MAX_WAITING:
                try:
                    item = waiting.get_nowait()
                except Empty:
                    break
                if item:
                    items.append(item)
            if items:
                self._write_until_late(self.make_batches(items), stopping)

    def _write_until_late(self, batches: Sequence[Batch], stopping: threading.Event) -> None:
        """Write batches; try again those that failed, until they are late or the process ends."""
        until = monotonic() + MAX_DELAY.total_seconds()
        while batches:
            try:
                batches = self.write(batches)
            except CassandraUnavailable as error:
                log.info("%s wait: %s", self.kind, error)
            except Exception:
                # One that can never be written must not end the writing of all others.
                log.exception("%s are lost", self.kind)
                until = 0
            if batches and (monotonic() > until or stopping.wait(RETRY_SECONDS)):
                self._shed(sum(map(len, batches)))
                return

    def write(self, batches: Sequence[Batch]) -> list[Batch]:
        """Write batches side by side; return those that have to be sent again. Raises CassandraUnavailable."""
        under_way = [(each, self._send(each)) for each in batches]
        failed, written = [], []
        for batch, future in under_way:
            try:
                future.result()
            except DRIVER_ERRORS:
                failed.append(batch)
            else:
                written.append(batch)
        try:
            self.note_written(written)
        except CassandraUnavailable as error:
            # They stand; what follows from them is written with the next ones.
            log.info("sums of %s wait: %s", self.kind, error)
        return failed

    def _send(self, batch: Batch) -> ResponseFuture:
        sent = BatchStatement(BatchType.UNLOGGED, consistency_level=LOCAL_QUORUM)
        for statement in self.bind(batch):
            sent.add(statement)
        sent.is_idempotent = True
        return get_session().execute_async(sent, execution_profile=WRITE)

    def _shed(self, count: int) -> None:
        # At the first and at each tenfold: a flood must not become one of log lines.
        before, self.shed_count = self.shed_count, self.shed_count + count
        SHED.labels(self.kind).inc(count)
        if len(str(before)) != len(str(self.shed_count)) or not before:
            log.warning("%s %s were not written by this process", self.shed_count, self.kind)


Writer = TypeVar("Writer", bound=BatchWriter)  # type: ignore[type-arg]  # of whatever
_kept: list[BatchWriter] = []  # type: ignore[type-arg]


def keep_writer(writer: Writer) -> Writer:
    """Let a process's own writer begin anew in its children, and write what waits when the process ends; return it."""
    _kept.append(writer)
    os.register_at_fork(after_in_child=writer.forget_after_fork)
    return writer


@atexit.register
def close_writers() -> None:
    """Have all writers of the process write what waits, for some seconds each at most."""
    for writer in _kept:
        writer.close()
