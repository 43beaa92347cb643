"""The errors of a change of a review, a question or an answer."""


class NoSuchText(Exception):
    """The review, question or answer does not exist, or was withdrawn."""


class TextChanged(Exception):
    """The review, question or answer has another version than the caller has read. Nothing was written."""
