"""What may be wrong with a review."""


class ReviewChanged(Exception):
    """The review is another one than its editor has read. Nothing was written."""


class NoSuchReview(Exception):
    """There is no such review, or it cannot be read any more."""


class ReviewsBusy(Exception):
    """So many review this product at this moment that the write has not come through. Nothing was written."""
