"""The addresses of the orders app."""

from django.urls import path

from orders.views import changes, confirmation, order, payment, placed_orders, withdrawal

app_name = "orders"
urlpatterns = [
    path("orders/", order.order_lookup, name="lookup"),
    path("orders/<str:number>/", order.order_detail, name="detail"),
    path("orders/<str:number>/invoice.pdf", order.order_invoice, name="invoice"),
    path("orders/<str:number>/pay/", payment.pay_order, name="pay"),
    path("orders/<str:number>/give-up/", payment.cancel_unpaid_order, name="give_up"),
    path("orders/<str:number>/keep/", payment.extend_payment_deadline, name="extend_deadline"),
    path(
        "orders/<str:number>/paid/<uuid:payment_id>/",
        payment.return_from_payment,
        name="return_from_payment",
    ),
    path("payments/<str:gateway>/notice/", payment.payment_webhook, name="payment_webhook"),
    path(
        "orders/<str:number>/confirmation-mail/",
        confirmation.resend_confirmation_mail,
        name="confirmation_mail",
    ),
    path("o/<str:token>/", order.open_order_access_link, name="track"),
    path("o/<str:token>/confirm/", confirmation.confirm_order, name="confirm"),
    path("account/orders/", placed_orders.order_history, name="history"),
    path("orders/<str:number>/again/", placed_orders.reorder, name="reorder"),
    path("orders/<str:number>/cancel/", placed_orders.cancel_order, name="cancel"),
    path("orders/<str:number>/change/", changes.change_lines, name="change"),
    path("orders/<str:number>/address/", changes.change_delivery_address, name="change_address"),
    path("withdraw/", withdrawal.withdraw, name="withdraw"),
    path("withdraw/received/", withdrawal.withdrawal_received, name="withdrawn"),
    path("orders/<str:number>/return/", changes.request_return, name="request_return"),
]
