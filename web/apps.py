from django.apps import AppConfig
from django.core.checks import register


class WebConfig(AppConfig):
    name = "web"

    def ready(self) -> None:
        from web.checks import check_deployment, check_secrets

        register(check_secrets)
        register(check_deployment, deploy=True)
