"""What the app offers."""

from django.urls import path

from orders import views

app_name = "orders"
urlpatterns = [
    path("checkout/", views.checkout, name="checkout"),
    path("orders/", views.lookup, name="lookup"),
    path("orders/<str:number>/", views.detail, name="detail"),
    path("orders/<str:number>/pay/", views.pay, name="pay"),
    path("orders/<str:number>/give-up/", views.give_up, name="give_up"),
    path("orders/<str:number>/paid/<uuid:payment_id>/", views.payment_return, name="payment_return"),
    path("payments/<str:gateway>/notice/", views.payment_notice, name="payment_notice"),
    path("o/<str:token>/", views.track, name="track"),
    path("account/orders/", views.history, name="history"),
]
