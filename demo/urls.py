"""The addresses of the demo shop's mail reader."""

from django.urls import path

from demo.mail import views

app_name = "mail"
urlpatterns = [
    path("demo/mail/", views.mail_list, name="messages"),
    path("demo/mail/<str:key>/", views.mail_detail, name="message"),
    path("demo/mail/<str:key>/html/", views.mail_html, name="html"),
    path("demo/mail/<str:key>/answer/", views.answer_mail, name="answer"),
]
