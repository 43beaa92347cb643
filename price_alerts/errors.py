"""Errors of watched prices."""


class TooManyWatched(Exception):
    """A member watches as many products as one may."""
