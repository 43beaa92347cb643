from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        # Not in models.py, which knows nothing of queries and operations.
        from accounts.users import attach_manager

        attach_manager()
