"""The operations on accounts: one function for each command."""

from accounts.operations.address_book import (
    MAX_ADDRESSES,
    fill_address_book,
    remove_address,
    save_address,
)
from accounts.operations.customers import (
    add_customer_note,
    block_customer,
    record_customer_look,
    unblock_customer,
)
from accounts.operations.email_change import (
    change_email,
    email_change_link,
    finish_email_change,
    parse_email_change_token,
    process_sign_in,
    record_email_proof,
    request_email_change,
)
from accounts.operations.erasure import (
    erase_account,
    person_from_user,
    repeat_erasures,
    request_erasure,
    run_erasures,
)
from accounts.operations.passwords import (
    change_password,
    change_password_hash,
    get_user_by_reset_token,
    password_reset_link,
    rehash_password,
    request_password_reset,
    reset_password,
)
from accounts.operations.profile import (
    record_login,
    save_low_stock_mail,
    save_name,
    save_notification_choice,
    save_notification_choices,
    save_preferences,
    save_profile,
)
from accounts.operations.registration import (
    parse_registration_token,
    register_user,
    registration_link,
    request_registration,
)
from accounts.operations.staff import reset_second_factor, set_role
