"""Addresses of the staff's pages about the books."""

from django.urls import path

from adminpanel.books import views

urlpatterns = [
    path("books/", views.books_month, name="books"),
    path("books/invoices/", views.book_invoices, name="book_invoices"),
    path("books/open/", views.open_invoices, name="open_invoices"),
]
