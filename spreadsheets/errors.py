"""Why a file or a cell is refused, in words for staff."""


class FileRefused(ValueError):
    """The file cannot be read, or it is too large."""


class CellRefused(ValueError):
    """The text of a cell is no possible value of its column."""
