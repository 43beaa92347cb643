"""Writes streams of events and readings in a background thread of each process, in batches of one partition.

A request puts items into a queue in memory and goes on. The thread writes the queue every half second, so a crash loses at
most the last second. While the queue is full, because Cassandra is away, new items are dropped and counted. Items get their key
and timestamp before they are sent, so a batch can be sent a second time without harm.
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
from cassandra.query import BoundStatement
from prometheus_client import Counter

from cassandra_db import CassandraUnavailable
from cassandra_db.configuration import WRITE
from cassandra_db.session import DRIVER_ERRORS, get_session
from cassandra_db.statements import make_batch

MAX_WAITING = 10_000
MAX_BATCH = 100
FLUSH_SECONDS = 0.5
# How long a batch is retried. An hour's events are added up anew for a while longer (analytics.roll_up.LATEST_EVENT).
MAX_DELAY = timedelta(minutes=5)
RETRY_SECONDS = 2.0
SHUTDOWN_SECONDS = 3.0
SHED = Counter("stoa_events_shed", "Events and readings that were not written", ("kind",))
log = logging.getLogger(__name__)

Item = TypeVar("Item")
Batch = TypeVar("Batch", bound=Sized)


class BatchWriter(ABC, Generic[Item, Batch]):
    """The queue of a process, and the thread that empties it. The thread starts with the first item and does not survive a fork."""

    kind = ""  # a word that names the items in the log and the metrics

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
        """Return the items in batches. A batch has items of one partition, at most MAX_BATCH."""

    @abstractmethod
    def bind(self, batch: Batch) -> list[BoundStatement]:
        """Return a batch's statements, each with its own timestamp, which is the same at each call."""

    @abstractmethod
    def note_written(self, batches: Sequence[Batch]) -> None:
        """Write the sums of these batches, which are stored. After CassandraUnavailable, the next call gets these batches, too."""

    def put(self, *items: Item) -> bool:
        """Queue items, and drop the items for which there is no room. Return whether there was room for all. Never waits."""
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
        """Return whether the queue has room for this many items."""
        return self._waiting.qsize() + count <= MAX_WAITING

    def _start(self) -> None:
        with self._lock:
            if self._thread is None and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, name=self.kind, daemon=True)
                self._thread.start()

    def forget_after_fork(self) -> None:
        """Begin with an empty queue in a child process. The parent process writes the items that wait."""
        self._lock = threading.Lock()
        self._begin()

    def close(self) -> None:
        """Write the queue, within SHUTDOWN_SECONDS, and end the thread. The next item starts a new thread."""
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
        """Write batches. Retry failed batches until MAX_DELAY is over or the process ends."""
        until = monotonic() + MAX_DELAY.total_seconds()
        while batches:
            try:
                batches = self.write(batches)
            except CassandraUnavailable as error:
                log.info("%s wait: %s", self.kind, error)
            except Exception:
                # An item that can never be written must not stop the thread.
                log.exception("%s are lost", self.kind)
                until = 0
            if batches and (monotonic() > until or stopping.wait(RETRY_SECONDS)):
                self._shed(sum(map(len, batches)))
                return

    def write(self, batches: Sequence[Batch]) -> list[Batch]:
        """Write batches side by side. Return the batches that have to be sent again. Raises CassandraUnavailable."""
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
            # The batches are stored. Their sums are written together with the sums of the next batches.
            log.info("sums of %s wait: %s", self.kind, error)
        return failed

    def _send(self, batch: Batch) -> ResponseFuture:
        statement = make_batch(self.bind(batch))
        return get_session().execute_async(statement, execution_profile=WRITE)

    def _shed(self, count: int) -> None:
        # Log the 1st, 10th, 100th … dropped item: a flood of items must not become a flood of log lines.
        before, self.shed_count = self.shed_count, self.shed_count + count
        SHED.labels(self.kind).inc(count)
        if len(str(before)) != len(str(self.shed_count)) or not before:
            log.warning("%s %s were not written by this process", self.shed_count, self.kind)


Writer = TypeVar("Writer", bound=BatchWriter)  # type: ignore[type-arg]  # of whatever
_kept: list[BatchWriter] = []  # type: ignore[type-arg]


def keep_writer(writer: Writer) -> Writer:
    """Register a process's writer, and return it. Its queue is emptied in child processes, and written when the process ends."""
    _kept.append(writer)
    os.register_at_fork(after_in_child=writer.forget_after_fork)
    return writer


@atexit.register
def close_writers() -> None:
    """Close all writers of the process, each within SHUTDOWN_SECONDS."""
    for writer in _kept:
        writer.close()
