from django.apps import AppConfig
from django.core.checks import register


class OrdersConfig(AppConfig):
    name = "orders"

    def ready(self) -> None:
        from orders.checks import payments

        register(payments)
