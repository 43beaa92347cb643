"""The words for reviews, questions and answers, for their states, and for the reasons why they wait."""

from django.utils.translation import gettext_lazy

from moderation.states import HELD, PUBLISHED, REFUSED, UNANSWERED, WITHDRAWN

REASONS_HELD = {
    "links": gettext_lazy("Contains a link"),
    "words": gettext_lazy("Contains a word from your list"),
    "repeated": gettext_lazy("Duplicate text"),
    "crowd": gettext_lazy("Many from one network"),
    "reported": gettext_lazy("Reported by a reader"),
    "pictures": gettext_lazy("New pictures"),
    "again": gettext_lazy("Refused before"),
    "undone": gettext_lazy("Decision undone"),
    UNANSWERED: gettext_lazy("Unanswered"),
}
KINDS = {
    "": gettext_lazy("Review"),
    "question": gettext_lazy("Question"),
    "answer": gettext_lazy("Answer"),
    "post": gettext_lazy("Post"),
    "comment": gettext_lazy("Comment"),
}
STATES = {
    PUBLISHED: (gettext_lazy("Published"), "good"),
    HELD: (gettext_lazy("Waiting"), "warn"),
    REFUSED: (gettext_lazy("Refused"), "bad"),
    WITHDRAWN: (gettext_lazy("Withdrawn"), "calm"),
}
