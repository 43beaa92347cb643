"""The form of a page of text."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from adminpanel.catalogue.fields import moment_field
from cassandra_db import current_time
from text_pages.drawing import Placeholder, get_placeholders, list_unknown_placeholders
from text_pages.pages import HELP, TERMS_PAGE, PageHead, PageVersion
from web.forms import Form

MAX_TEXT = 40_000


class TextPageForm(Form):
    """The form of a page's next version. It begins with an earlier one; `version` is the number of the last one that it knows."""

    version = forms.IntegerField(widget=forms.HiddenInput, min_value=0)
    title = forms.CharField(label=gettext_lazy("Title"), max_length=80)
    slug = forms.RegexField(
        r"^[a-z0-9]+(-[a-z0-9]+)*$",
        label=gettext_lazy("Address"),
        max_length=60,
        help_text=gettext_lazy(
            "The part after /help/ in the page’s address. Former addresses redirect to the new one."
        ),
        error_messages={
            "invalid": gettext_lazy("Enter small letters, digits and hyphens, such as size-guide")
        },
    )
    description = forms.CharField(
        label=gettext_lazy("Description"),
        max_length=160,
        required=False,
        help_text=gettext_lazy("One sentence for search engines."),
    )
    text = forms.CharField(
        label=gettext_lazy("Text"),
        max_length=MAX_TEXT,
        widget=forms.Textarea({"rows": 24}),
        help_text=gettext_lazy(
            "Markdown: # heading, - list, **bold**, *italic*, [link](/contact/). A heading that ends with {#name} can be linked to."
        ),
    )
    live_from = moment_field(gettext_lazy("Live from"), gettext_lazy("Leave empty to publish now."))

    def __init__(
        self, key: str, shown: PageVersion | None, saved: int, data: Mapping[str, Any] | None = None
    ) -> None:
        initial = {"version": saved} | (_get_values(shown) if shown else {})
        super().__init__(data, initial=initial)
        self.placeholders = _list_placeholders(key)
        if key == HELP:
            del self.fields["slug"]

    def clean_text(self) -> str:
        """Refuse placeholders that cannot be filled."""
        text = str(self.cleaned_data["text"])
        if unknown := list_unknown_placeholders(text, self.placeholders):
            raise forms.ValidationError(
                _(
                    "Correct %(unknown)s. There are %(known)s. A part of a page needs a line of its own. A link’s address has no braces."
                )
                % {
                    "unknown": ", ".join(unknown),
                    "known": ", ".join(f"{{{each}}}" for each in self.placeholders),
                }
            )
        return text

    def clean_live_from(self) -> datetime | None:
        """Refuse a moment that has passed."""
        moment: datetime | None = self.cleaned_data["live_from"]
        if moment and moment < current_time():
            raise forms.ValidationError(
                _("Enter a later time, or leave it empty to publish at once")
            )
        return moment

    def build_version(self, author_id: UUID, now: datetime) -> PageVersion:
        """Return the version that the valid form describes, saved at `now`."""
        clean = self.cleaned_data
        head = PageHead(
            clean["version"] + 1,
            clean.get("slug", ""),
            clean["title"],
            clean["description"],
            clean["live_from"] or now,
        )
        return PageVersion(head, clean["text"], author_id, now)


def _list_placeholders(key: str) -> dict[str, Placeholder]:
    """Return the placeholders that a page may have. Orders keep their terms, so these have none that show what is so today."""
    found = get_placeholders().items()
    return {name: each for name, each in found if key != TERMS_PAGE or not each.is_of_today}


def _get_values(version: PageVersion) -> dict[str, str]:
    head = version.head
    return {
        "title": head.title,
        "slug": head.slug,
        "description": head.description,
        "text": version.text.strip(),
    }


def describe_version(version: PageVersion) -> dict[str, str]:
    """Return what a version says, by the labels of the form's fields."""
    labels = TextPageForm.base_fields
    return {str(labels[name].label): text for name, text in _get_values(version).items()}
