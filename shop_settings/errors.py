"""Why a setting is not saved."""

from django.utils.translation import gettext as _


class SettingRefused(Exception):
    """A rule forbids the setting. The text says why; `field` names the field, '' for none."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


class SettingChanged(Exception):
    """The setting has changed since it was read."""

    def __init__(self) -> None:
        super().__init__(_("Someone else has changed this meanwhile."))


class SettingsBusy(Exception):
    """Others save so often that this save found no gap."""

    def __init__(self) -> None:
        super().__init__(_("Others are saving settings right now. Try again."))
