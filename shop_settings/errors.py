"""The errors when a setting cannot be saved."""

from django.utils.translation import gettext as _


class SettingRefused(Exception):
    """A rule forbids the setting. The text is the reason; `field` names the form field, '' for no field."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class SettingChanged(Exception):
    """The setting has changed since it was read."""

    def __init__(self) -> None:
        super().__init__(_("Someone else has changed this."))


class SettingsBusy(Exception):
    """Other people save settings so often that this save failed at each attempt."""

    def __init__(self) -> None:
        super().__init__(_("Others are saving settings right now. Try again."))
