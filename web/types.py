"""Types for annotations that only the type checker can resolve."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    # The package is installed only for development.
    from django_stubs_ext import StrOrPromise as StrOrPromise
else:
    StrOrPromise = str
