"""Somebody's words in a mail to somebody else."""

import re
import unicodedata

# What a mail program makes a link of: an address of a page or a mailbox, a host, a number of a network, "tel:" and its like.
# A dot with two characters behind it is a host's, whatever alphabet they are of; initials have one ("J.R.R.").
_LINK = re.compile(
    r"\S*(?:@|://|//|www\.|:\S|\S[.\u3002][^\s\d.\u3002][^\s.\u3002]|\d\.\d)\S*", re.IGNORECASE
)
# They are not seen, although Unicode calls them letters or marks: joiners, fillers, vowels of Khmer, variation selectors.
_UNSEEN = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_QUOTATION_MARKS = re.compile(r"[\"“”„«»]")
_LONGEST = 60


def quote_words(words: str) -> str:
    """Return what one person calls themselves or a thing, for a mail to another: in quotation marks, without links or addresses.

    Empty if nothing is left of it. Every mail that carries somebody else's words puts them through this, and no subject has any:
    the shop's mails must not say in the shop's name what a stranger has typed.
    """
    text = unicodedata.normalize("NFKC", words)
    # A character that is not seen may stand in the middle of an address.
    text = "".join(each for each in text if each.isspace() or unicodedata.category(each)[0] != "C")
    # Nor may anything be taken out of the middle of one later.
    text = _QUOTATION_MARKS.sub("", _UNSEEN.sub("", text))
    text = " ".join(_LINK.sub("…", text).split())
    text = re.sub(r"(?:… ?)+", "… ", text).strip()
    if not text.strip("… "):
        return ""
    return f"“{text[:_LONGEST].rstrip()}”"
