"""Names a browser and its device in words that their owner recognises. No rule may depend on them: browsers can claim any name."""

import re

from django.http import HttpRequest
from django.utils.translation import gettext as _

# The order matters: the User-Agent of each browser also contains names of browsers that are further down.
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
    """Return the browser and its operating system, such as "Firefox on Windows"; '' if the browser names neither."""
    agent = _user_agent(request)
    browser = next((name for token, name in _BROWSERS if re.search(rf"{token}\w*/", agent)), "")
    system = next((name for token, name in _SYSTEMS if token in agent), "")
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system


def device_kind(request: HttpRequest) -> str:
    """Return the kind of device that the browser runs on: phone, tablet or computer; "device" if it is unknown."""
    agent = _user_agent(request)
    if "iPad" in agent or "Tablet" in agent or ("Android" in agent and "Mobile" not in agent):
        return _("tablet")
    if "Mobi" in agent or "iPhone" in agent:
        return _("phone")
    return _("computer") if "Mozilla" in agent else _("device")


def _user_agent(request: HttpRequest) -> str:
    return request.headers.get("User-Agent", "")
