"""Names a browser and its device in words that their owner recognises. Nothing may depend on it: a browser can claim anything."""

import re

from django.http import HttpRequest
from django.utils.translation import gettext as _

# In this order: each of these also names some of the browsers below it.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR", "Opera"),
    ("SamsungBrowser", "Samsung Internet"),
    ("Firefox", "Firefox"),
    ("FxiOS", "Firefox"),
    ("CriOS", "Chrome"),
    ("Chrome", "Chrome"),
    ("Safari", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Macintosh", "Mac"),
    ("CrOS", "Chromebook"),
    ("Linux", "Linux"),
)


def browser_name(request: HttpRequest) -> str:
    """Return browser and system as in "Firefox on Windows"; '' if the browser names neither."""
    agent = _user_agent(request)
    browser = next((name for token, name in _BROWSERS if re.search(rf"{token}\w*/", agent)), "")
    system = next((name for token, name in _SYSTEMS if token in agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system


def device_kind(request: HttpRequest) -> str:
    """Return what the browser runs on: phone, tablet or computer, else "device"."""
    agent = _user_agent(request)
    if "iPad" in agent or "Tablet" in agent or ("Android" in agent and "Mobile" not in agent):
        return _("tablet")
    if "Mobi" in agent or "iPhone" in agent:
        return _("phone")
    return _("computer") if "Mozilla" in agent else _("device")


def _user_agent(request: HttpRequest) -> str:
    return request.headers.get("User-Agent", "")
