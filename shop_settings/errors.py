"""Why a setting is not saved."""

from django.utils.translation import gettext as _


class SettingError(Exception):
    """The base of what can be wrong with a setting that is to be saved."""


class SettingRefused(SettingError):
    """A rule says no; the text says why, and `field` which field of the setting it is about, '' for none alone."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class SettingChanged(SettingError):
    """It has changed since it was read."""

    def __init__(self) -> None:
        super().__init__(_("Someone else has changed this meanwhile."))


class SettingsBusy(SettingError):
    """Others save so often that this could not be saved between."""

    def __init__(self) -> None:
        super().__init__(_("Others are saving settings right now. Try again."))
