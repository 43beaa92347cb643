"""What a cart can hold, and the messages that say so before it is full."""

MAX_CARTS = 100
MAX_LINES = 1000
MAX_QUANTITY = 999
_NEARLY = 9 / 10  # from here on a message says how much room is left


def limit_message(count: int, most: int, one: str, many: str) -> str:
    """Return a sentence on the room that is left, once nine tenths are full; '' before."""
    if count < most * _NEARLY:
        return ""
    left = most - count
    if left <= 0:
        return f"There is no room for more: {most} {many} is the most."
    return f"There is room for {left} more {one if left == 1 else many}: {most} is the most."


def cart_limit_message(count: int) -> str:
    """Return a sentence on how many more carts there can be, once there are 90; '' before."""
    return limit_message(count, MAX_CARTS, "cart", "carts")


def line_limit_message(count: int) -> str:
    """Return a sentence on how many more lines a cart can hold, once it has 900; '' before."""
    return limit_message(count, MAX_LINES, "line", "lines")


def unit_limit_message(count: int) -> str:
    """Return a sentence on how many more units a line can have, once it has 900; '' before."""
    return limit_message(count, MAX_QUANTITY, "unit", "units")
