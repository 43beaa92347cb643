"""What can be wrong with a question or an answer."""

from django.utils.translation import gettext as _


class NoSuchText(Exception):
    """There is no such question or answer, or it was withdrawn."""


class TextChanged(Exception):
    """The question or answer is another one than was read."""


class QuestionFull(Exception):
    """A question has as many answers as it takes (questions.queries.MAX_ANSWERS)."""

    def __str__(self) -> str:
        return _("This question has enough answers.")
