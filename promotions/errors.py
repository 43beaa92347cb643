"""Why a promotion cannot be used or made, in words."""


class VoucherRefused(Exception):
    """The code takes nothing off. The text is for the shopper, and says why."""


class PromotionRefused(ValueError):
    """The promotion cannot be made as it is. The text is for the staff."""


class CodeTaken(PromotionRefused):
    """There is, or was, a promotion with this code."""

    def __init__(self, code: str) -> None:
        super().__init__(
            f"There is a promotion with the code {code} already, or there was: its uses are counted."
        )
