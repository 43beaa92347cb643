from django.apps import AppConfig
from django.core.checks import register


class CassandraDbConfig(AppConfig):
    name = "cassandra_db"
    verbose_name = "Cassandra"

    def ready(self) -> None:
        from cassandra_db.checks import deployment, secrets

        register(secrets)
        register(deployment, deploy=True)
