"""Django's async API of users and sessions: the method `aget` runs the method `get` in a thread, and so on."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async


def async_variant(name: str) -> Callable[..., Awaitable[Any]]:
    """Return an async method that runs the method `name` of its object in a thread, with the same arguments and errors."""

    async def variant(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(getattr(self, name))(*args, **kwargs)

    return variant
