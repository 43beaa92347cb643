"""Divide sums without losing a cent: over lines, or over the units of a line. All sums are whole minor units."""

from collections.abc import Sequence


def prorate_amount(amount: int, over: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to the sums `over`; the parts add up to the amount exactly.

    Parts are rounded down. The remaining cents go to the parts with the largest remainders; among equal remainders, the first
    part gets one first. If the amount is at most the total of the sums, no part exceeds its sum. Raises ValueError for an amount
    without sums.
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
    """Return the share of `units` in the amount of a line of `quantity` units. Earlier calls gave `before` units their shares.

    However a line is divided, its shares add up to its amount exactly. Raises ValueError for more units than the line has.
    """
    if before < 0 or units < 0 or before + units > quantity:
        raise ValueError(f"{before} and {units} of {quantity} units")
    return amount * (before + units) // quantity - amount * before // quantity
