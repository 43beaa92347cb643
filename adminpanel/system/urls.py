"""Addresses of the staff's pages about the system."""

from django.urls import path

from adminpanel.system import views

urlpatterns = [
    path("mail/", views.mail_trouble, name="mails"),
    path("mail/allow/", views.allow_mail, name="mail_allow"),
    path("worker/", views.worker_status, name="worker"),
    path("system/", views.system_status, name="system"),
]
