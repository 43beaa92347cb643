"""What comes of putting one cart into another, told before it is done."""

from dataclasses import dataclass

from moneyed import Money

from cart.entities import Cart, Line
from cart.limits import MAX_LINES, MAX_QUANTITY


@dataclass(frozen=True)
class Coming:
    """A line of the cart that goes, beside the one that it meets in the other cart, if any."""

    line: Line
    there: Line | None

    @property
    def together(self) -> int:
        return self.line.quantity + (self.there.quantity if self.there else 0)

    @property
    def too_many(self) -> bool:
        return self.together > MAX_QUANTITY

    @property
    def price(self) -> Money:
        """What one costs in the other cart: the line that is there keeps its price."""
        return self.there.price if self.there else self.line.price

    @property
    def other_price(self) -> bool:
        return self.price != self.line.price


@dataclass(frozen=True)
class Preview:
    """Two carts, and what the second will be once the first is in it."""

    source: Cart
    target: Cart
    coming: tuple[Coming, ...]

    @property
    def line_count(self) -> int:
        return self.target.line_count + sum(each.there is None for each in self.coming)

    @property
    def item_count(self) -> int:
        return self.target.item_count + self.source.item_count

    @property
    def subtotal(self) -> Money:
        return sum((each.price * each.line.quantity for each in self.coming), self.target.subtotal)

    @property
    def in_the_way(self) -> list[str]:
        """Why it cannot be done, in sentences; nothing if it can."""
        found = [
            f"Together that would be {each.together} of {each.line.label}, and a cart can have {MAX_QUANTITY} of one thing at most."
            for each in self.coming
            if each.too_many
        ]
        if self.line_count > MAX_LINES:
            found.append(
                f"Together that would be {self.line_count} lines, and a cart can hold {MAX_LINES} at most."
            )
        return found


def preview(source: Cart, target: Cart) -> Preview:
    """Return what the target will be once the source is in it."""
    return Preview(
        source, target, tuple(Coming(line, target.line(line.key)) for line in source.lines)
    )
