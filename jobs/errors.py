"""The errors of jobs and of migrations."""


class LeaseLost(Exception):
    """This process does not hold the job's lease: another worker or no worker holds it."""


class SchemaOutdated(Exception):
    """The keyspace lacks tables or columns that this version has, or is not reconciled after a restore."""


class MigrationError(Exception):
    """A migration did not end."""


class MigrationBusy(MigrationError):
    """Another process migrates."""


class BackfillIncomplete(MigrationError):
    """Some rows could not be filled."""


class DropRefused(MigrationError):
    """Backfills may still need what would be dropped."""
