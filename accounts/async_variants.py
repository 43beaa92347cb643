"""Django's async API of users and sessions: each `a…` method runs the method of its name in a thread."""

from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async


def async_variant(name: str) -> Callable[..., Awaitable[Any]]:
    """Return a method that awaits the method `name` of the same object, with the same arguments and errors."""

    async def variant(self: Any, *args: Any, **kwargs: Any) -> Any:
        return await sync_to_async(getattr(self, name))(*args, **kwargs)

    return variant
