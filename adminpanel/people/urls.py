"""Addresses of the staff's pages: people, roles and the audit log."""

from django.urls import path

from adminpanel.people.views import audit_log, people, second_factor

urlpatterns = [
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path(
        "second-factor/picture.svg",
        second_factor.second_factor_qr_code,
        name="second_factor_picture",
    ),
    path("second-factor/codes/", second_factor.renew_recovery_codes, name="recovery_codes"),
    path("people/", people.staff_list, name="people"),
    path("people/find/", people.find_person, name="person_find"),
    path("people/<uuid:user_id>/", people.person_detail, name="person"),
    path("people/<uuid:user_id>/role/", people.change_person_role, name="person_role"),
    path("people/<uuid:user_id>/sessions/", people.end_person_sessions, name="person_sessions_end"),
    path(
        "people/<uuid:user_id>/second-factor/",
        people.reset_person_second_factor,
        name="person_factor_reset",
    ),
    path("log/", audit_log.audit_log_page, name="log"),
]
