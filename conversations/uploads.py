"""What a form with files needs: the field, the mark of its view, its address, and the storing.

@takes_message_files
def send_message(request): …
    form = MessageForm(request.POST, request.FILES)             # has `files = MessageFilesField()`
    attachments = store_files(form.cleaned_data["files"], source_id)    # raises AttachmentRefused: a sentence
{"send_url": upload_url(request, address, SHOPPER_UPLOADS)}     # `is_for_guest=True` for a guest; STAFF_UPLOADS for staff
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.core.files import File
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from conversations.entities import Attachment
from conversations.errors import AttachmentRefused
from conversations.operations.attachments import store_attachment
from conversations.rules import MAX_ATTACHMENT_BYTES, MAX_ATTACHMENTS
from web.uploads import takes_files

MAX_MEGABYTES = MAX_ATTACHMENT_BYTES // 1024**2
_TOO_MANY = _("Choose at most %(most)d files.")
_TOO_LARGE = _("Choose files of at most %(most)d MB together.")
# A view with this mark may take the files of a message.
takes_message_files = takes_files(MAX_ATTACHMENT_BYTES)


class MessageFilesInput(forms.FileInput):
    """A field for several files. A script refuses files that are too many or too large before the upload."""

    allow_multiple_selected = True

    def __init__(self) -> None:
        super().__init__(
            {
                "multiple": True,
                "data-most-files": MAX_ATTACHMENTS,
                "data-most-megabytes": MAX_MEGABYTES,
                "data-too-many": _TOO_MANY % {"most": MAX_ATTACHMENTS},
                "data-too-large": _TOO_LARGE % {"most": MAX_MEGABYTES},
            }
        )


class MessageFilesField(forms.Field):
    """A field for at most ten files, with 25 MB together. Their content is checked when they are stored."""

    widget = MessageFilesInput

    def __init__(self, **options: Any) -> None:
        help_text = _("Up to %(files)d files, %(most)d MB together.") % {
            "files": MAX_ATTACHMENTS,
            "most": MAX_MEGABYTES,
        }
        defaults = {"label": _("Files"), "required": False, "help_text": help_text}
        super().__init__(**{**defaults, **options})

    def clean(self, value: Any) -> list[File[bytes]]:
        """Return the files. Raises ValidationError for files that are empty, too many or too large."""
        files: list[File[bytes]] = value or []
        if len(files) > MAX_ATTACHMENTS:
            raise forms.ValidationError(_TOO_MANY % {"most": MAX_ATTACHMENTS})
        if any(not each.size for each in files):
            raise forms.ValidationError(gettext("A file that you chose is empty."))
        if sum(each.size for each in files) > MAX_ATTACHMENT_BYTES:
            raise forms.ValidationError(_TOO_LARGE % {"most": MAX_MEGABYTES})
        return files


def store_files(files: Sequence[File[bytes]], source_id: UUID) -> tuple[Attachment, ...]:
    """Store the files of the message that the form `source_id` becomes. A repeat stores the same rows.

    Raises AttachmentRefused, whose text is for the sender, and CassandraUnavailable.
    """
    stored: list[Attachment] = []
    for file in files:
        stored.append(store_attachment(file, name=file.name or "", source_id=source_id))
        # A picture's copy may be larger than what was sent.
        if sum(each.size for each in stored) > MAX_ATTACHMENT_BYTES:
            raise AttachmentRefused(_TOO_LARGE % {"most": MAX_MEGABYTES})
    return tuple(stored)
