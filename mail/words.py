"""Cleans one person's typed words, so that they are safe in a mail to another person."""

import re
import unicodedata

# Text that mail programs turn into links: addresses of pages and mailboxes, hosts, IP addresses, schemes such as "tel:".
# A dot followed by two characters of any alphabet makes a host. Initials ("J.R.R.") have one character after each dot.
_LINK = re.compile(
    r"\S*(?:@|://|//|www\.|:\S|\S[.\u3002][^\s\d.\u3002][^\s.\u3002]|\d\.\d)\S*", re.IGNORECASE
)
# Invisible characters that Unicode calls letters or marks: joiners, fillers, vowels of Khmer, variation selectors.
_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_QUOTATION_MARKS = re.compile(r"[\"“”„«»]")
_LONGEST = 60


def quote_words(words: str) -> str:
    """Return a name that one person typed, in quotation marks and without links, or "" if nothing is left.

    A stranger's words must not look like the shop's own words in a mail. So this function quotes all typed words, and no
    mail's subject contains any.
    """
    text = unicodedata.normalize("NFKC", words)
    # Remove invisible characters and quotation marks first: they may stand inside an address and hide it.
    text = "".join(each for each in text if each.isspace() or unicodedata.category(each)[0] != "C")
    text = _QUOTATION_MARKS.sub("", _UNSEEN.sub("", text))
    text = " ".join(_LINK.sub("…", text).split())
    text = re.sub(r"(?:… ?)+", "… ", text).strip()
    if not text.strip("… "):
        return ""
    return f"“{text[:_LONGEST].rstrip()}”"
