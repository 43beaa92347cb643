"""What can be wrong with an answer."""

from django.utils.translation import gettext as _


class QuestionFull(Exception):
    """The question has as many answers as it takes (questions.queries.MAX_ANSWERS)."""

    def __str__(self) -> str:
        return _("This question has enough answers.")
