"""Why a file, or a cell of it, is refused, in words for the staff."""


class FileRefused(ValueError):
    """The file cannot be read, or is too large."""


class CellRefused(ValueError):
    """A cell says what cannot be."""
