from django.apps import AppConfig


class CassandraDbConfig(AppConfig):
    name = "cassandra_db"
    verbose_name = "Cassandra"
