"""The search terms of a customer: the words of the name."""

from catalogue.words import name_words

# The number of letters of a term that must be typed. These letters are the term's partition key.
HEAD = 2
MAX_TERMS = 12


def list_name_terms(name: str) -> list[str]:
    """Return the different words of a name, without case and accents."""
    return name_words(name)[:MAX_TERMS]
