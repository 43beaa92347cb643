"""One scan of products for several functions that each look at all of them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from itertools import islice
from queue import Queue
from typing import Any

from catalogue.entities import Product

# The number of products that are handed over together. Two such chunks wait for the slowest consumer at most.
CHUNK = 100
Consumer = Callable[[Iterable[Product]], Any]


class _End:
    """Ends a queue, with the error that ended the scan if there is one."""

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error


_Items = Queue[Sequence[Product] | _End]


def share_scan(products: Iterable[Product], *consumers: Consumer) -> list[Any]:
    """Call each function with these products, which are read once; return their results.

    The functions run side by side, and few products are in memory. Raises the error of the scan or of the function that fails
    first; the other functions then end by this error, too.
    """
    queues, failures = [_Items(maxsize=2) for _ in consumers], list[BaseException]()
    with ThreadPoolExecutor(len(consumers)) as threads:
        running = [
            threads.submit(copy_context().run, _consume, consumer, queue, failures)
            for consumer, queue in zip(consumers, queues, strict=True)
        ]
        end = _End()
        try:
            found = iter(products)
            while chunk := list(islice(found, CHUNK)):
                if failures:
                    raise failures[0]
                for queue in queues:
                    queue.put(chunk)
        except BaseException as error:
            end = _End(error)
            raise
        finally:
            for queue in queues:
                queue.put(end)
        return [each.result() for each in running]


def _consume(consumer: Consumer, queue: _Items, failures: list[BaseException]) -> Any:
    products = _Products(queue)
    try:
        return consumer(iter(products))
    except BaseException as error:
        failures.append(error)
        raise
    finally:
        # A function that has ended early must not hold up the scan.
        while not products.has_ended:
            products.get()


class _Products:
    """The products of a queue."""

    def __init__(self, queue: _Items) -> None:
        self._queue, self.has_ended = queue, False

    def get(self) -> Sequence[Product]:
        """Return the next chunk; an empty one at the end. Raises the error that ended the scan."""
        chunk = self._queue.get()
        if not isinstance(chunk, _End):
            return chunk
        self.has_ended = True
        if chunk.error:
            raise chunk.error
        return ()

    def __iter__(self) -> Iterator[Product]:
        while not self.has_ended:
            yield from self.get()
