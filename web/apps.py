from django.apps import AppConfig
from django.core.checks import register


class WebConfig(AppConfig):
    name = "web"

    def ready(self) -> None:
        from cassandra_db import observe_statements
        from web.checks import check_deployment, check_secrets
        from web.extensions import check_extensions
        from web.metrics import count_statement

        observe_statements(count_statement)
        register(check_secrets)
        register(check_extensions)
        register(check_deployment, deploy=True)
