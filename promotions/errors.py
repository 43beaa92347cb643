"""Why a promotion cannot be used or made, in words."""

from django.utils.translation import gettext as _


class VoucherRefused(Exception):
    """The code takes nothing off. The text is for the shopper, and says why."""


class PromotionRefused(ValueError):
    """The promotion cannot be made as it is. The text is for the staff."""


class CodeTaken(PromotionRefused):
    """There is, or was, a promotion with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(
            _(
                "The code %(code)s is already used by a current or past promotion. Choose another code."
            )
            % {"code": code}
        )
