"""Fetches, configures, starts and stops the project's own Cassandra, using only Python.

The package needs no Django. Programs call `announce_local_node` before they read the settings.
"""

from devtools.node.errors import NodeError
from devtools.node.state import announce_local_node
