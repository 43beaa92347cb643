#!/usr/bin/env python
"""Django's command line: `python manage.py help` lists what it offers."""

import os
import sys

from devtools.node import announce_local_node


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.settings")
    announce_local_node()
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
