"""Addresses of the staff's pages about the books."""

from django.urls import path

from adminpanel.books import views

urlpatterns = [
    path("books/", views.books_month, name="books"),
    path("books/invoices/", views.book_invoices, name="book_invoices"),
    path("books/open/", views.open_invoices, name="open_invoices"),
    path("books/unmatched/", views.unmatched_payments, name="unmatched_payments"),
    path(
        "books/unmatched/<uuid:payment_id>/",
        views.settle_unmatched_payment,
        name="unmatched_payment_settle",
    ),
]
