"""The errors of pages of text."""


class NoSuchPageVersion(Exception):
    """The page has no version with this number."""
