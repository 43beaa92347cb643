"""What the app offers: becoming a member, coming and going, profile and address book."""

from django.urls import path

from accounts.views import book, joining, passwords, privacy, profile, security, signing

app_name = "accounts"
urlpatterns = [
    path("", profile.profile, name="profile"),
    path("register/", joining.register, name="register"),
    path("register/sent/", joining.sent, name="sent"),
    path("register/<str:token>/", joining.finish, name="finish"),
    path("login/", signing.login, name="login"),
    path("logout/", signing.logout, name="logout"),
    path("password/", passwords.change, name="password"),
    path("reset/", passwords.reset, name="reset"),
    path("reset/sent/", passwords.reset_sent, name="reset_sent"),
    path("reset/<str:token>/", passwords.reset_finish, name="reset_finish"),
    path("email/", security.email, name="email"),
    path("email/<str:token>/", security.email_confirm, name="email_confirm"),
    path("security/", security.sessions, name="security"),
    path("security/end/", security.session_end, name="session_end"),
    path("security/end-others/", security.sessions_end_others, name="sessions_end_others"),
    path("security/end-all/", security.sessions_end_all, name="sessions_end_all"),
    path("preferences/", profile.preferences, name="preferences"),
    path("addresses/", book.addresses, name="addresses"),
    path("addresses/add/", book.address_add, name="address_add"),
    path("addresses/<int:key>/", book.address_edit, name="address_edit"),
    path("addresses/<int:key>/remove/", book.address_remove, name="address_remove"),
    path("privacy/", privacy.privacy, name="privacy"),
    path("privacy/export/", privacy.export, name="export"),
    path("privacy/erase/", privacy.erase, name="erase"),
    path("privacy/erased/", privacy.erased, name="erased"),
]
