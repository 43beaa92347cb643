"""What was noticed while a file of another shop was converted, in words."""

from collections.abc import Mapping

from django.utils.translation import ngettext_lazy

# By the names under which converters count (spreadsheets.foreign).
NOTES = {
    "html": ngettext_lazy(
        "HTML in %(count)s description was converted.",
        "HTML in %(count)s descriptions was converted.",
        "count",
    ),
    "tax_added": ngettext_lazy(
        "Tax at the standard rate was added to %(count)s price.",
        "Tax at the standard rate was added to %(count)s prices.",
        "count",
    ),
    "former_prices": ngettext_lazy(
        "%(count)s former price was left out: it is above the lowest price of the last 30 days here.",
        "%(count)s former prices were left out: they are above the lowest prices of the last 30 days here.",
        "count",
    ),
    "sale_not_on": ngettext_lazy(
        "%(count)s sale price was left out: its sale is not on today.",
        "%(count)s sale prices were left out: their sales are not on today.",
        "count",
    ),
    "sale_ends": ngettext_lazy(
        "%(count)s sale price has an end, which was left out. Schedule the next price.",
        "%(count)s sale prices have an end, which was left out. Schedule the next prices.",
        "count",
    ),
    "hidden": ngettext_lazy(
        "%(count)s product is hidden in its shop. It is a draft here.",
        "%(count)s products are hidden in their shop. They are drafts here.",
        "count",
    ),
    "any_value": ngettext_lazy(
        "%(count)s variation for any value became a variant for each value.",
        "%(count)s variations for any value became a variant for each value.",
        "count",
    ),
    "translations": ngettext_lazy(
        "%(count)s line with a translation was left out.",
        "%(count)s lines with translations were left out.",
        "count",
    ),
    "not_counted": ngettext_lazy(
        "%(count)s variant without counted stock was left out.",
        "%(count)s variants without counted stock were left out.",
        "count",
    ),
    "below_zero": ngettext_lazy(
        "%(count)s variant has fewer than 0 units. It was read as 0.",
        "%(count)s variants have fewer than 0 units. They were read as 0.",
        "count",
    ),
}


def describe_notes(notes: Mapping[str, int]) -> list[str]:
    """Return a sentence for each kind of note, with its count, in the order of NOTES."""
    return [text % {"count": notes[name]} for name, text in NOTES.items() if notes.get(name)]
