"""Describes bulk changes of products in words: the acts, the previews and the results."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.utils.translation import gettext as _
from moneyed import Money

from adminpanel.bulk_change_pages import RESULT_LABELS, RESULT_TONES
from adminpanel.catalogue.labels import STATUS_LABELS
from catalogue import queries
from catalogue.bulk_acts import BulkAct
from catalogue.bulk_changes import PreviewedProduct
from catalogue.entities import Product, Variant
from jobs.bulk_changes import BulkChangeRow
from pricing.templatetags.money import format_money


def describe_act(act: BulkAct) -> str:
    """Return a text that says what an act does to each product."""
    if act.is_about_prices:
        by = Decimal(act.by)
        amount = f"{abs(by).normalize():f}"
        unit = _("%(number)s%%") % {"number": amount} if act.kind == "percent" else amount
        text = _("Prices raised by %(by)s") if by > 0 else _("Prices lowered by %(by)s")
        parts = [text % {"by": unit}]
        if act.ending:
            parts.append(_("to end in .%(ending)s") % {"ending": act.ending})
        if act.cross_out:
            parts.append(_("the former price crossed out"))
        return ", ".join(parts)
    if act.kind == "main_category":
        return _("Main category: %(name)s") % {"name": _category_name(UUID(act.category_id))}
    if act.kind == "category":
        return _("Added to %(name)s") % {"name": _category_name(UUID(act.category_id))}
    if act.kind == "status":
        return _("Status: %(status)s") % {"status": STATUS_LABELS[act.status]}
    if act.kind == "featured":
        return _("Put on the front page") if act.featured else _("Taken off the front page")
    return _("A change undone")


def _category_name(category_id: UUID) -> str:
    node = queries.get_category(category_id)
    return node.name if node else str(category_id)


@dataclass(frozen=True)
class PreviewLine:
    """A product in the preview: its values before and after the change, or the reason why the change is refused."""

    product: Product
    before: str
    after: str
    reason: str

    @property
    def is_changed(self) -> bool:
        return not self.reason and self.before != self.after


def preview_line(previewed: PreviewedProduct, act: BulkAct) -> PreviewLine:
    """Return the line of a previewed product, with its values in words."""
    after = previewed.after
    return PreviewLine(
        previewed.before,
        _describe(previewed.before, act),
        _describe(after, act) if after else "",
        previewed.reason,
    )


def _describe(product: Product, act: BulkAct) -> str:
    """Return in words the values of a product that an act would change."""
    if act.is_about_prices:
        return _describe_prices([each for each in product.variants if each.sold])
    if act.kind in ("main_category", "category"):
        return ", ".join(_category_name(each) for each in product.all_category_ids)
    if act.kind == "status":
        return str(STATUS_LABELS[product.status])
    return _("yes") if product.featured else _("no")  # the act is "featured"


def _describe_prices(variants: Sequence[Variant]) -> str:
    if not variants:
        return _("no available variant")
    text = _range([each.price for each in variants])
    crossed = [each.compare_at for each in variants if each.compare_at]
    if not crossed:
        return text
    return _("%(prices)s, %(former)s crossed out") % {"prices": text, "former": _range(crossed)}


def _range(prices: Sequence[Money]) -> str:
    lowest, highest = format_money(min(prices)), format_money(max(prices))
    return lowest if lowest == highest else f"{lowest} – {highest}"


@dataclass(frozen=True)
class ResultLine:
    """A product that a bulk change contains, and the change's result for it."""

    row: BulkChangeRow
    name: str
    label: str
    tone: str


def result_lines(rows: Sequence[BulkChangeRow]) -> list[ResultLine]:
    """Return a change's rows in words. Unprocessed products get their present names. Raises CassandraUnavailable."""
    unnamed = [row.item_id for row in rows if not row.label]
    waiting = queries.get_products(unnamed, queries.leave_out)
    return [
        ResultLine(
            row,
            row.label or (waiting[row.item_id].name if row.item_id in waiting else "…"),
            str(RESULT_LABELS[row.result]),
            RESULT_TONES.get(row.result, "plain"),
        )
        for row in rows
    ]
