from django.apps import AppConfig
from django.core.checks import register


class WebConfig(AppConfig):
    name = "web"

    def ready(self) -> None:
        from web.checks import deployment, secrets

        register(secrets)
        register(deployment, deploy=True)
