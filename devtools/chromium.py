"""Finding a Chromium: the browser tests drive it, and Lighthouse does."""

import os
import shutil

# The shell is a Chromium without windows: the same pages for a third of the processor time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome")


def find_chromium() -> str | None:
    """Return the path of a Chromium, which is $CHROMIUM's or the first on the PATH, or None."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _NAMES)), None)
