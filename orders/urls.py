"""What the app offers."""

from django.urls import path

from orders.views import afterwards, changing, order, payment

app_name = "orders"
urlpatterns = [
    path("orders/", order.order_lookup, name="lookup"),
    path("orders/<str:number>/", order.order_detail, name="detail"),
    path("orders/<str:number>/invoice.pdf", order.order_invoice, name="invoice"),
    path("orders/<str:number>/pay/", payment.pay_order, name="pay"),
    path("orders/<str:number>/give-up/", payment.give_up_order, name="give_up"),
    path("orders/<str:number>/keep/", payment.extend_payment_deadline, name="keep"),
    path(
        "orders/<str:number>/paid/<uuid:payment_id>/", payment.payment_return, name="payment_return"
    ),
    path("payments/<str:gateway>/notice/", payment.payment_webhook, name="payment_notice"),
    path("o/<str:token>/", order.open_tracking_link, name="track"),
    path("account/orders/", afterwards.order_history, name="history"),
    path("orders/<str:number>/again/", afterwards.reorder, name="again"),
    path("orders/<str:number>/cancel/", afterwards.cancel_order, name="cancel"),
    path("orders/<str:number>/change/", changing.change_lines, name="change"),
    path("orders/<str:number>/address/", changing.change_delivery_address, name="door"),
    path("orders/<str:number>/return/", changing.request_return, name="send_back"),
]
