"""Sums divided without a cent lost: over lines, and over the units of a line. Whole minor units in, whole ones out."""

from collections.abc import Sequence


def prorate_amount(amount: int, over: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to sums; the parts add up to it exactly.

    Each part is rounded down, and the cents that are left go one by one to those that lost most by that, the first of
    equals first (largest remainder). No part is more than its sum, if the amount is not more than all of them.
    Raises ValueError if there is an amount, but nothing to spread it over.
    """
    whole = sum(over)
    if not whole:
        if amount:
            raise ValueError("there is nothing to spread it over")
        return [0] * len(over)
    parts = [amount * each // whole for each in over]
    lost = sorted(range(len(over)), key=lambda index: -(amount * over[index] % whole))
    for index in lost[: amount - sum(parts)]:
        parts[index] += 1
    return parts


def prorate_units(amount: int, quantity: int, units: int, before: int = 0) -> int:
    """Return what `units` of a line of `quantity` have of its amount, when `before` units had their share already.

    However a line is cut into parts, one after the other, their shares add up to its amount exactly.
    Raises ValueError for more units than the line has.
    """
    if before < 0 or units < 0 or before + units > quantity:
        raise ValueError(f"{before} and {units} of {quantity} units")
    return amount * (before + units) // quantity - amount * before // quantity
