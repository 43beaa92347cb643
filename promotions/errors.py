"""The reasons why a promotion cannot be used or created, in words."""

from django.utils.translation import gettext as _


class VoucherRefused(Exception):
    """The code gives no discount. The text tells the shopper why."""


class PromotionRefused(ValueError):
    """The promotion's terms are invalid. The text is for the staff."""


class CodeTaken(PromotionRefused):
    """Another promotion has, or had, this code."""

    def __init__(self, code: str) -> None:
        super().__init__(
            _(
                "The code %(code)s is already used by a current or past promotion. Choose another code."
            )
            % {"code": code}
        )


class AlreadyCreated(PromotionRefused):
    """The form has created a promotion before, which has other terms or has been ended."""

    def __init__(self) -> None:
        super().__init__(
            _("This form has already created a promotion. Check it in the list of promotions.")
        )
