"""What a browser says it is, in words that its owner recognises."""

import re

# In this order: each of these also calls itself one of those below.
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


def device(user_agent: str) -> str:
    """Return browser and system as in "Firefox on Windows"; '' for what names neither. What is said is not to be trusted."""
    browser = next((name for token, name in _BROWSERS if re.search(rf"{token}\w*/", user_agent)), "")
    system = next((name for token, name in _SYSTEMS if token in user_agent), "")
    return f"{browser} on {system}" if browser and system else browser or system
