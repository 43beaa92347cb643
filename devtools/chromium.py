"""Finds a Chromium browser for the browser tests and for Lighthouse."""

import os
import shutil

# chromium-headless-shell has no windows: it renders the same pages with a third of the processor time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the path of a Chromium: $CHROMIUM, else the first on the PATH. Return None if there is none."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
