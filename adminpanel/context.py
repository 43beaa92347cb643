"""The template variables that every staff page needs for its frame."""

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from adminpanel.side_bar import get_side_bar


def staff_frame(request: HttpRequest) -> dict[str, object]:
    """Return `side_bar`, which is built on its first use, and `frame`, the template that error pages extend."""
    is_staff_page = getattr(request, "is_staff_page", False)
    return {
        "side_bar": SimpleLazyObject(lambda: get_side_bar(request)),
        "frame": "adminpanel/base.html" if is_staff_page else "base.html",
    }
