"""Errors of the local Cassandra, whose messages are for the developer."""


class NodeError(Exception):
    """The local Cassandra cannot do what was asked. The message has the reason and the fix."""


class JavaMissing(NodeError):
    """No Java 17 was found on this machine."""


class JarsMissing(NodeError):
    """Some of Cassandra's jars are missing, and could not be fetched."""


class WrongChecksum(NodeError):
    """A fetched jar does not have the checksum in the lock file."""


class NodeDied(NodeError):
    """A node ended while it was starting. `log` has the last lines of its log."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(f"{message}\n\n{log}" if log else message)
        self.log = log
