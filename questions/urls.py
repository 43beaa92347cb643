"""The URLs of questions about a product."""

from django.urls import path

from questions import views

app_name = "questions"

urlpatterns = [
    path("p/<slug:slug>/questions/", views.product_questions, name="list"),
    path("account/questions/<slug:slug>/", views.ask_question, name="ask"),
    path("account/questions/<slug:slug>/<uuid:question_id>/", views.answer_question, name="answer"),
    path(
        "account/questions/<slug:slug>/<uuid:question_id>/withdraw/",
        views.withdraw_text,
        name="withdraw",
    ),
    path(
        "account/questions/<slug:slug>/<uuid:question_id>/report/", views.report_text, name="report"
    ),
]
