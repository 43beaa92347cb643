"""Reviews of a product: read, written, found helpful, reported."""

from django.urls import path

from reviews import views

app_name = "reviews"

urlpatterns = [
    path("p/<slug:slug>/reviews/", views.product_reviews, name="list"),
    path("p/<slug:slug>/review/", views.write_review, name="write"),
    path("p/<slug:slug>/review/withdraw/", views.withdraw_review, name="withdraw"),
    path("p/<slug:slug>/reviews/vote/", views.vote, name="vote"),
    path("p/<slug:slug>/reviews/report/", views.report_review, name="report"),
]
