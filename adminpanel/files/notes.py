"""What was noticed while a file of another shop was converted, in words."""

from collections.abc import Mapping

from django.utils.translation import ngettext_lazy

# By the names under which spreadsheets.foreign and spreadsheets.operations count.
NOTES = {
    "html": ngettext_lazy(
        "HTML in %(count)s description was converted.",
        "HTML in %(count)s descriptions was converted.",
        "count",
    ),
    "former_prices": ngettext_lazy(
        "%(count)s former price was left out: it is above the lowest price of the last 30 days here.",
        "%(count)s former prices were left out: they are above the lowest prices of the last 30 days here.",
        "count",
    ),
    "sales": ngettext_lazy(
        "%(count)s sale price has dates. The price is that of today: schedule the next one.",
        "%(count)s sale prices have dates. The prices are those of today: schedule the next ones.",
        "count",
    ),
    "left_out": ngettext_lazy(
        "%(count)s line was left out: it is a translation, or its stock is not counted.",
        "%(count)s lines were left out: they are translations, or their stock is not counted.",
        "count",
    ),
}


def describe_notes(notes: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of note, with its count, in the order of NOTES."""
    return [text % {"count": notes[name]} for name, text in NOTES.items() if notes.get(name)]
