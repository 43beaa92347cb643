"""Everything that happens to accounts, one function an event."""

from accounts.operations.book import MAX_ADDRESSES, address_removed, address_saved
from accounts.operations.erasing import account_erased, erasure_asked, erasures_done, person_of
from accounts.operations.joining import (
    registration_asked,
    registration_link,
    registration_meant,
    user_registered,
)
from accounts.operations.mailbox import (
    came_back,
    email_change_asked,
    email_change_link,
    email_change_meant,
    email_changed,
    email_settled,
    mailbox_proved,
    proof_dropped,
)
from accounts.operations.passwords import (
    hash_changed,
    password_changed,
    password_rehashed,
    password_reset,
    reset_asked,
    reset_link,
    reset_meant,
)
from accounts.operations.profile import preferences_saved, profile_saved
from accounts.operations.staffing import role_given, second_factor_taken
