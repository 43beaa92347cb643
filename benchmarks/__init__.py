"""Programs that measure the shop, and print the figures in docs/."""

from devtools.node import announce_local_node

# This must come before a benchmark reads the settings.
announce_local_node()
