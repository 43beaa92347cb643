"""What can go wrong with the local Cassandra, in words for the person at the keyboard."""


class NodeError(Exception):
    """The local Cassandra cannot do what was asked; the message says why and what fixes it."""


class JavaMissing(NodeError):
    """No Java 17 was found on this machine."""


class JarsMissing(NodeError):
    """Not all of Cassandra's jars are here and they could not be fetched."""


class WrongChecksum(NodeError):
    """A jar arrived that is not the one the lock file names."""


class NodeDied(NodeError):
    """A node ended while it was starting. `log` holds the last lines it wrote."""

    def __init__(self, message: str, log: str) -> None:
        super().__init__(f"{message}\n\n{log}" if log else message)
        self.log = log
