"""Addresses of the staff's pages about people, roles and the audit log."""

from django.urls import path

from adminpanel.people.views import audit_log, second_factor, staff

urlpatterns = [
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path(
        "second-factor/picture.svg",
        second_factor.second_factor_qr_code,
        name="second_factor_picture",
    ),
    path("second-factor/codes/", second_factor.create_recovery_codes, name="recovery_codes"),
    path("people/", staff.staff_list, name="people"),
    path("people/find/", staff.find_person, name="person_find"),
    path("people/<uuid:user_id>/", staff.person_detail, name="person"),
    path("people/<uuid:user_id>/role/", staff.change_person_role, name="person_role"),
    path("people/<uuid:user_id>/sessions/", staff.end_person_sessions, name="person_sessions_end"),
    path(
        "people/<uuid:user_id>/second-factor/",
        staff.reset_person_second_factor,
        name="person_factor_reset",
    ),
    path("log/", audit_log.audit_log_page, name="log"),
]
