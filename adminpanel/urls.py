"""What staff see and do. Every view declares by `staff_required` who may."""

from django.urls import path

from adminpanel import views

app_name = "adminpanel"
urlpatterns = [
    path("", views.board, name="board"),
    path("find/", views.find, name="find"),
    path("orders/<str:number>/", views.order, name="order"),
    path("orders/<str:number>/move/", views.move, name="move"),
    path("orders/<str:number>/note/", views.note, name="note"),
]
