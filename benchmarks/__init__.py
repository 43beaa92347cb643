"""Programs that print the figures in docs/."""

from devtools.node import announce_local_node

# Must come before any of them reads the settings.
announce_local_node()
