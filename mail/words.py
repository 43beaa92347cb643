"""Somebody's words in a mail to somebody else."""

import re
import unicodedata

# What a mail program makes a link of: an address of a page or a mailbox, a host, a number of a network, "tel:" and its like.
_LINK = re.compile(r"\S*(?:@|://|//|www\.|:\S|[\w-][.\u3002][^\W\d_]{2,}|\d\.\d)\S*", re.IGNORECASE)
_LONGEST = 60


def quote_words(words: str) -> str:
    """Return what one person calls themselves or a thing, for a mail to another: in quotation marks, without links or addresses.

    Empty if nothing is left of it. Every mail that carries somebody else's words puts them through this, and no subject has any:
    the shop's mails must not say in the shop's name what a stranger has typed.
    """
    text = unicodedata.normalize("NFKC", words)
    # A character that is not seen may stand in the middle of an address.
    text = "".join(each for each in text if each.isspace() or unicodedata.category(each)[0] != "C")
    text = " ".join(_LINK.sub("…", text).split())
    text = re.sub(r"(?:… ?)+", "… ", re.sub(r"[\"“”„«»]", "", text)).strip()
    if not text.strip("… "):
        return ""
    return f"“{text[:_LONGEST].rstrip()}”"
