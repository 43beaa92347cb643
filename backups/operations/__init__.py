"""The commands on backups: make, verify, restore."""

from backups.operations.backups import make_backup
from backups.operations.restores import forget_restore, restore
from backups.operations.verification import verify_backup
from backups.queries import find_restored_backup
