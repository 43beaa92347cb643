"""What prints the figures that docs/ quotes."""

from devtools.node import announce_local_node

# Before any of them reads the settings.
announce_local_node()
