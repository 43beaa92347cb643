"""The project's own Cassandra: found, fetched, configured, started and stopped without anything but Python.

Importing this package is cheap and needs no Django: the settings ask it where the node is.
"""

from devtools.node.errors import NodeError
from devtools.node.state import recorded_endpoint

__all__ = ["NodeError", "recorded_endpoint"]
