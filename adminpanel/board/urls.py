"""Addresses of the staff's pages about the order board."""

from django.urls import path

from adminpanel.board import views

urlpatterns = [
    path("orders/", views.order_board, name="board"),
    path("orders/columns/", views.choose_board_columns, name="board_columns"),
]
