"""The names of background jobs, as staff read them. The jobs' own names are keys of stored rows."""

import re

from django import template
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

register = template.Library()

LABELS = {
    "account search": gettext_lazy("Customer search"),
    "attachments": gettext_lazy("Message attachments"),
    "bulk changes": gettext_lazy("Bulk edits of products"),
    "bulk changes of orders": gettext_lazy("Bulk edits of orders"),
    "book sums": gettext_lazy("Sums of the books"),
    "books": gettext_lazy("Closing of the books"),
    "carts": gettext_lazy("Removal of stale carts"),
    "catalogue schedule": gettext_lazy("Scheduled prices and products"),
    "categories": gettext_lazy("Category changes"),
    "customer segments": gettext_lazy("Customer segments"),
    "customer sums": gettext_lazy("Customer totals"),
    "digests": gettext_lazy("Daily notification emails"),
    "emptied labels": gettext_lazy("Emptying of labels"),
    "erasures": gettext_lazy("Deletion of accounts"),
    "gaps under labels": gettext_lazy("Clean-up of label lists"),
    "goods that arrive": gettext_lazy("Allocation of incoming stock"),
    "holds": gettext_lazy("Stock reservations"),
    "incoming files": gettext_lazy("Removal of unused uploads"),
    "mail": gettext_lazy("Outgoing email"),
    "moves": gettext_lazy("Moves between carts"),
    "offers": gettext_lazy("Emails of offers"),
    "old conversations": gettext_lazy("Removal of old conversations"),
    "old exports": gettext_lazy("Removal of old exports"),
    "order days": gettext_lazy("Clean-up of board days"),
    "pictures by address": gettext_lazy("Pictures of imported products"),
    "popular": gettext_lazy("Popular products"),
    "product reports": gettext_lazy("Stock value and products that need attention"),
    "reconciliation": gettext_lazy("Reconciliation of payments"),
    "spreadsheets": gettext_lazy("Imports and exports"),
    "uploads": gettext_lazy("Picture uploads"),
}


@register.filter
def job_label(name: str) -> str:
    """Return a job's name for staff. A job of several shards names its shard."""
    found = re.fullmatch(r"(.+?)(?: (\d+) of (\d+))?", name)
    if found is None:
        return name
    label = str(LABELS.get(found[1], capfirst(found[1])))
    if not found[2]:
        return label
    shard = {"label": label, "number": found[2], "count": found[3]}
    return _("%(label)s, shard %(number)s of %(count)s") % shard
