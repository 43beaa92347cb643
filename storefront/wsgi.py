"""The application for gunicorn: `storefront.wsgi:application`."""

import os
from typing import Any

import django
from django.core.handlers.wsgi import WSGIHandler, WSGIRequest
from django.utils.http import parse_header_parameters

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "storefront.settings")


class Utf8Request(WSGIRequest):
    """A request whose query and form are UTF-8, as the URL standard says, whatever its Content-Type claims.

    Django would decode the query by the claimed charset, and answer 500 for codecs of bytes such as "hex" (S100).
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        self.content_type, self.content_params = parse_header_parameters(
            meta.get("CONTENT_TYPE", "")
        )


class Utf8Handler(WSGIHandler):
    """Django's handler, with `Utf8Request`."""

    request_class = Utf8Request


django.setup(set_prefix=False)
application = Utf8Handler()
