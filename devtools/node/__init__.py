"""The project's own Cassandra: found, fetched, configured, started and stopped without anything but Python.

Importing this package is cheap and needs no Django: code that is about to read the settings calls `announce_local_node` before.
"""

from devtools.node.errors import NodeError
from devtools.node.state import announce_local_node
