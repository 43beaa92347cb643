"""A cheap password hasher for test runs, which make thousands of accounts."""

from django.contrib.auth.hashers import Argon2PasswordHasher


class CheapArgon2PasswordHasher(Argon2PasswordHasher):
    """Argon2 with the least work it allows: 8 KiB and one pass. Never for a shop: see CHEAP_PASSWORD_HASHES."""

    time_cost = 1
    memory_cost = 8
    parallelism = 1
