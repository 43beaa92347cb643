"""The addresses of notifications that need no login: the bell's number, and the link that ends mails."""

from django.urls import path

from notifications import views

app_name = "notifications"
urlpatterns = [
    path("notifications/bell/", views.bell, name="bell"),
    path("notifications/end/<str:token>/", views.end_mails, name="end_mails"),
]
