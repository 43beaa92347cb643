from django.apps import AppConfig
from django.core.checks import register


class PaymentsConfig(AppConfig):
    name = "payments"

    def ready(self) -> None:
        from payments.checks import check_payment_settings

        register(check_payment_settings)
