"""The preview of a merge of two carts."""

from dataclasses import dataclass, replace

from django.utils.translation import gettext as _
from moneyed import Money

from cart.entities import Cart, Line
from cart.limits import MAX_LINES, MAX_QUANTITY


@dataclass(frozen=True)
class MergedLine:
    """A line of the source cart, and the line of the same variant in the target cart, if any."""

    line: Line
    existing_line: Line | None

    @property
    def total_quantity(self) -> int:
        return self.line.quantity + (self.existing_line.quantity if self.existing_line else 0)

    @property
    def has_too_many_units(self) -> bool:
        return self.total_quantity > MAX_QUANTITY

    @property
    def price(self) -> Money:
        """The price of a unit after the merge. Existing lines of the target cart keep their prices."""
        return self.existing_line.price if self.existing_line else self.line.price

    @property
    def has_other_price(self) -> bool:
        return self.price != self.line.price


@dataclass(frozen=True)
class MergePreview:
    """Two carts, and the target after the merge."""

    source: Cart
    target: Cart
    lines: tuple[MergedLine, ...]

    @property
    def line_count(self) -> int:
        return self.target.line_count + sum(each.existing_line is None for each in self.lines)

    @property
    def item_count(self) -> int:
        return self.target.item_count + self.source.item_count

    @property
    def merged(self) -> Cart:
        """The target with the source's lines. The target's existing lines keep their prices."""
        coming = {each.line.key: each for each in self.lines}
        lines = [
            replace(line, quantity=coming[line.key].total_quantity) if line.key in coming else line
            for line in self.target.lines
        ] + [each.line for each in self.lines if each.existing_line is None]
        return replace(
            self.target,
            lines=tuple(replace(line, total=line.price * line.quantity) for line in lines),
            line_count=self.line_count,
            item_count=self.item_count,
        )

    @property
    def obstacles(self) -> list[str]:
        """Sentences that say why the merge is impossible; empty if it is possible."""
        found = [
            _(
                "That would make %(total)s of %(name)s, and a cart can hold up to %(limit)s of one item."
            )
            % {"total": each.total_quantity, "name": each.line.label, "limit": MAX_QUANTITY}
            for each in self.lines
            if each.has_too_many_units
        ]
        if self.line_count > MAX_LINES:
            found.append(
                _("That would make %(total)s different items, and a cart can hold up to %(limit)s.")
                % {"total": self.line_count, "limit": MAX_LINES}
            )
        return found


def preview_merge(source: Cart, target: Cart) -> MergePreview:
    """Return the preview of a merge."""
    return MergePreview(
        source, target, tuple(MergedLine(line, target.get_line(line.key)) for line in source.lines)
    )
