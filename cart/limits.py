"""What a cart can hold, and the words that say so before it is full."""

MAX_CARTS = 100
MAX_LINES = 1000
MAX_QUANTITY = 999
_NEARLY = 9 / 10  # from here on it is told how much room is left


def limit_message(there: int, most: int, one: str, many: str) -> str:
    """Return a sentence on the room that is left, once nine tenths are full; '' before."""
    if there < most * _NEARLY:
        return ""
    left = most - there
    if left <= 0:
        return f"There is no room for more: {most} {many} is the most."
    return f"There is room for {left} more {one if left == 1 else many}: {most} is the most."


def cart_limit_message(there: int) -> str:
    """Return how many carts more there can be, once there are 90."""
    return limit_message(there, MAX_CARTS, "cart", "carts")


def line_limit_message(there: int) -> str:
    """Return how many lines more a cart can hold, once it has 900."""
    return limit_message(there, MAX_LINES, "line", "lines")


def unit_limit_message(there: int) -> str:
    """Return how many units more a line can have, once it has 900."""
    return limit_message(there, MAX_QUANTITY, "unit", "units")
