from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        # Not imported by models.py, which must not depend on queries and operations.
        from accounts.users import attach_manager

        attach_manager()
