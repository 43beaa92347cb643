"""Why a file or a cell is refused, in words for staff."""


class FileRefused(ValueError):
    """The file cannot be read, or is too large."""


class CellRefused(ValueError):
    """The value of a cell is impossible."""
