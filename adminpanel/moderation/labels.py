"""The words for reviews, questions and answers, for their states, and for the reasons why they wait."""

from django.utils.translation import gettext_lazy

from moderation.states import HELD, PUBLISHED, REFUSED, UNANSWERED, WITHDRAWN

REASONS_HELD = {
    "links": gettext_lazy("It has a link"),
    "words": gettext_lazy("It has a word of your list"),
    "repeated": gettext_lazy("The same text was sent before"),
    "crowd": gettext_lazy("Many came from one network"),
    "reported": gettext_lazy("A reader reported it"),
    "pictures": gettext_lazy("It has new pictures"),
    "again": gettext_lazy("It was refused before"),
    "undone": gettext_lazy("A decision was undone"),
    UNANSWERED: gettext_lazy("Nobody has answered it"),
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
