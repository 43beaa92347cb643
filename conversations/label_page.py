"""What pages of labels share, a member's and the staff's: which labels have a page, and how a form saves one."""

from collections.abc import Callable, Mapping
from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext as _

from conversations.entities import Label
from conversations.errors import LabelNameTaken, NoSuchLabel, TooManyLabels
from conversations.forms import LabelForm
from conversations.rules import EMPTIABLE, MAX_OWN_LABELS


def save_label(form: LabelForm, save: Callable[[str, str], Label]) -> bool:
    """Save a label by `save`. Return False if it is refused: the form says why. Raises Http404, CassandraUnavailable."""
    if not form.is_valid():
        return False
    try:
        save(form.cleaned_data["name"], form.cleaned_data["color"])
    except LabelNameTaken:
        form.add_error("name", _("Another label has this name"))
    except TooManyLabels:
        text = _("There are %(most)d labels. Delete one first") % {"most": MAX_OWN_LABELS}
        form.add_error("name", text)
    except NoSuchLabel as error:
        raise Http404("no such label") from error
    return form.is_valid()


def find_label(labels: Mapping[UUID, Label], label_id: UUID) -> Label:
    """Return a label that has a page: one of the mailbox's own, or a fixed one that can be emptied. Raises Http404."""
    label = labels.get(label_id)
    if label is None or (label.is_fixed and label.key not in EMPTIABLE):
        raise Http404("no such label")
    return label
