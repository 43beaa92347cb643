"""What a view is, and which methods it answers."""

from collections.abc import Callable
from typing import Concatenate, ParamSpec

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_http_methods

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]

# A page with a form; and a press, whose address somebody may open again: it then leads to its page.
get_or_post = require_http_methods(["GET", "HEAD", "POST"])
