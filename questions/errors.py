"""The error that a question cannot take another answer."""

from django.utils.translation import gettext as _


class QuestionFull(Exception):
    """The question has as many answers as a question can have (questions.queries.MAX_ANSWERS)."""

    def __str__(self) -> str:
        return _("This question has enough answers.")
