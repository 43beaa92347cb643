"""The error of an answer that finds no room."""

from django.utils.translation import gettext as _


class QuestionFull(Exception):
    """The question has as many answers as a question can have (questions.queries.MAX_ANSWERS)."""

    def __str__(self) -> str:
        return _("This question has enough answers.")
