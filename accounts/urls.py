"""Registration, login and logout, profile and address book."""

from django.urls import path

from accounts.views import (
    address_book,
    login,
    notification_choices,
    notifications,
    passwords,
    privacy,
    profile,
    registration,
    security,
)

app_name = "accounts"
urlpatterns = [
    path("", profile.profile, name="profile"),
    path("register/", registration.register, name="register"),
    path("register/sent/", registration.registration_sent, name="sent"),
    path("register/<str:token>/", registration.finish_registration, name="finish"),
    path("login/", login.login, name="login"),
    path("logout/", login.logout, name="logout"),
    path("password/", passwords.change_password, name="password"),
    path("reset/", passwords.request_password_reset, name="reset"),
    path("reset/sent/", passwords.password_reset_sent, name="reset_sent"),
    path("reset/<str:token>/", passwords.reset_password, name="reset_finish"),
    path("email/", security.request_email_change, name="email"),
    path("email/<str:token>/", security.confirm_email_change, name="email_confirm"),
    path("security/", security.session_list, name="security"),
    path("security/end/", security.end_one_session, name="session_end"),
    path("security/end-others/", security.end_other_sessions, name="sessions_end_others"),
    path("security/end-all/", security.end_all_sessions, name="sessions_end_all"),
    path("notifications/", notifications.notification_list, name="notifications"),
    path("notifications/panel/", notifications.notification_panel, name="notification_panel"),
    path("notifications/read/", notifications.mark_all_read, name="notifications_read"),
    path(
        "notifications/<uuid:notification_id>/",
        notifications.open_notification,
        name="notification_open",
    ),
    path(
        "notifications/choices/",
        notification_choices.notification_choices,
        name="notification_choices",
    ),
    path("preferences/", profile.preferences, name="preferences"),
    path("addresses/", address_book.address_list, name="addresses"),
    path("addresses/add/", address_book.add_address, name="address_add"),
    path("addresses/<int:key>/", address_book.edit_address, name="address_edit"),
    path("addresses/<int:key>/remove/", address_book.remove_address, name="address_remove"),
    path("privacy/", privacy.privacy, name="privacy"),
    path("privacy/export/", privacy.download_personal_data, name="export"),
    path("privacy/erase/", privacy.request_erasure, name="erase"),
    path("privacy/erased/", privacy.erasure_done, name="erased"),
]
