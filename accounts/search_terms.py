"""Under which words staff find a customer: those of the name."""

from catalogue.words import name_words

# How much of a term has to be typed, and stands in the key of its partition.
HEAD = 2
MAX_TERMS = 12


def list_name_terms(name: str) -> list[str]:
    """Return the words of a name, without case and accents, each once."""
    return name_words(name)[:MAX_TERMS]
