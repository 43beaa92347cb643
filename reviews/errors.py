"""The errors of writing a review."""


class ReviewsBusy(Exception):
    """Too many people review this product at this moment. Nothing was written."""
