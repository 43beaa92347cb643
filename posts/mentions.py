"""Mentions of people in texts, such as "@ada_99"."""

import re

from posts.rules import MAX_HANDLE, MAX_MENTIONS, MIN_HANDLE

# The characters before it may belong to an address or to an escaped character.
MENTION = re.compile(rf"(?<![\w@&#])@([A-Za-z][A-Za-z0-9_]{{{MIN_HANDLE - 1},{MAX_HANDLE - 1}}})\b")


def list_mentions(text: str) -> list[str]:
    """Return the first MAX_MENTIONS handles that a text mentions, each once."""
    return list(dict.fromkeys(MENTION.findall(text)))[:MAX_MENTIONS]
