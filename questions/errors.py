"""What can be wrong with a question or an answer."""


class NoSuchText(Exception):
    """There is no such question or answer, or it was withdrawn."""


class TextChanged(Exception):
    """The question or answer is another one than was read."""
