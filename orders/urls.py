"""What the app offers."""

from django.urls import path

from orders.views import afterwards, changing, order, payment

app_name = "orders"
urlpatterns = [
    path("orders/", order.lookup, name="lookup"),
    path("orders/<str:number>/", order.detail, name="detail"),
    path("orders/<str:number>/invoice.pdf", order.invoice, name="invoice"),
    path("orders/<str:number>/pay/", payment.pay, name="pay"),
    path("orders/<str:number>/give-up/", payment.give_up, name="give_up"),
    path("orders/<str:number>/keep/", payment.keep, name="keep"),
    path(
        "orders/<str:number>/paid/<uuid:payment_id>/", payment.payment_return, name="payment_return"
    ),
    path("payments/<str:gateway>/notice/", payment.payment_notice, name="payment_notice"),
    path("o/<str:token>/", order.track, name="track"),
    path("account/orders/", afterwards.history, name="history"),
    path("orders/<str:number>/again/", afterwards.again, name="again"),
    path("orders/<str:number>/cancel/", afterwards.cancel, name="cancel"),
    path("orders/<str:number>/change/", changing.change, name="change"),
    path("orders/<str:number>/address/", changing.door, name="door"),
    path("orders/<str:number>/return/", changing.send_back, name="send_back"),
]
