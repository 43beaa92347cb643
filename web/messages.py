"""The storage of the messages at the top of the next page: a cookie, so they must not name people or addresses."""

from django.conf import settings
from django.contrib.messages.storage.cookie import CookieStorage


class MessageStorage(CookieStorage):
    """Django's storage in a cookie, whose name binds the cookie to this host."""

    cookie_name = settings.MESSAGES_COOKIE_NAME
