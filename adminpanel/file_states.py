"""The words for the states of a file that is read or written in the background."""

from django.utils.translation import gettext_lazy

from spreadsheets import entities

STATE_LABELS = {
    entities.READING: (gettext_lazy("Being read"), "calm"),
    entities.REFUSED: (gettext_lazy("Refused"), "warn"),
    entities.READ: (gettext_lazy("Look at it"), "calm"),
    entities.APPLYING: (gettext_lazy("Being applied"), "calm"),
    entities.FINISHED: (gettext_lazy("Finished"), "good"),
    entities.WRITING: (gettext_lazy("Being written"), "calm"),
    entities.WRITTEN: (gettext_lazy("Ready"), "good"),
    entities.EXPIRED: (gettext_lazy("Deleted"), "plain"),
}
