"""Which methods a view answers."""

from django.views.decorators.http import require_http_methods

# A page with a form; and a press, whose address somebody may open again: it then leads to its page.
get_or_post = require_http_methods(["GET", "HEAD", "POST"])
