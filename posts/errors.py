"""The errors of posts."""


class NoSuchPost(Exception):
    """There is no such post, or it was withdrawn."""


class PostBusy(Exception):
    """Too many people changed the same post at once. Try again."""


class ThreadFull(Exception):
    """A comment has as many replies as it can have."""


class HandleTaken(Exception):
    """Another member has this handle, or one that looks like it."""


class HandleRefused(Exception):
    """A handle that nobody may have. The text says why."""


class ProfileChanged(Exception):
    """The profile has another version than the caller has read. Nothing was written."""
