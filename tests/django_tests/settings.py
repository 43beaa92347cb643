"""The shop's settings, for Django's own tests: its users, sessions, cookies, database; the tests' own pages and templates.

Middleware and context processors that draw the shop's pages stay out, since the tests bring URLs and templates of their own.
"""

import os
from pathlib import Path
from typing import Any

from django.conf import global_settings

from storefront import settings as shop

vars().update({name: getattr(shop, name) for name in dir(shop) if name.isupper()})

INSTALLED_APPS = [*shop.INSTALLED_APPS, "messages_tests", "test_client"]
_TEMPLATES: dict[str, Any] = shop.TEMPLATES[0]
_SHOPS_PAGES = ("web.", "storefront.", "cart.", "csp.", "whitenoise.", "django_htmx.")
MIDDLEWARE = [name for name in shop.MIDDLEWARE if not name.startswith(_SHOPS_PAGES)]
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        # The shop's are for its mails.
        "DIRS": [Path(os.environ["DJANGO_TESTS"]) / "templates", *_TEMPLATES["DIRS"]],
        "APP_DIRS": True,
        "OPTIONS": {
            "builtins": _TEMPLATES["OPTIONS"]["builtins"],
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    }
]
FORM_RENDERER = global_settings.FORM_RENDERER
CSRF_FAILURE_VIEW = global_settings.CSRF_FAILURE_VIEW
LOGIN_URL = global_settings.LOGIN_URL
