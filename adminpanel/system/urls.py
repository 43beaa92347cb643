"""Addresses of the staff's pages: the system."""

from django.urls import path

from adminpanel.system.views import mails, status, worker

urlpatterns = [
    path("mail/", mails.mail_trouble, name="mails"),
    path("mail/allow/", mails.allow_mail, name="mail_allow"),
    path("worker/", worker.worker_status, name="worker"),
    path("system/", status.system_status, name="system"),
]
