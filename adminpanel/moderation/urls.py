"""Addresses of the staff's pages: reviews and questions."""

from django.urls import path

from adminpanel.moderation.views import questions, reviews

urlpatterns = [
    path("reviews/", reviews.review_queue, name="reviews"),
    path("reviews/<uuid:product_id>/<uuid:user_id>/", reviews.review_detail, name="review"),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/decide/",
        reviews.review_decide,
        name="review_decide",
    ),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/remove-picture/",
        reviews.review_picture_remove,
        name="review_picture_remove",
    ),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/answer/",
        reviews.review_answer,
        name="review_answer",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/",
        questions.question_detail,
        name="question",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/decide/",
        questions.question_decide,
        name="question_decide",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/answer/",
        questions.question_answer,
        name="question_answer",
    ),
]
