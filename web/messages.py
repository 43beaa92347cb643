"""The lines at the top of the next page, kept in a cookie until then: so they name nobody and no e-mail address."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage


class MessageStorage(CookieStorage):
    """Django's, under a name that binds the cookie to this host."""

    cookie_name = settings.MESSAGES_COOKIE_NAME
