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


class TooManyFollows(Exception):
    """A member follows as many people as one can follow."""


class TooManyBlocks(Exception):
    """A member has blocked as many people as one can block."""


class PersonBlocked(Exception):
    """One of two people has blocked the other."""
