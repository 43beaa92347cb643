from django.apps import AppConfig
from django.core.checks import Tags, register


class CassandraDbConfig(AppConfig):
    name = "cassandra_db"
    verbose_name = "Cassandra"

    def ready(self) -> None:
        from cassandra_db.checks import check_data_centers

        register(check_data_centers, Tags.database)
