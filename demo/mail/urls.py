"""What the app offers: the showroom's mail reader."""

from django.urls import path

from demo.mail import views

app_name = "mail"
urlpatterns = [
    path("", views.messages, name="messages"),
    path("<str:key>/", views.message, name="message"),
]
