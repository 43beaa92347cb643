"""Addresses of the staff's pages about orders."""

from django.urls import path

from adminpanel.orders.views import (
    bulk_changes,
    changes,
    mails,
    money,
    order,
    papers,
    parcels,
    returns,
)

urlpatterns = [
    path("orders/changes/", bulk_changes.order_changes, name="order_changes"),
    path("orders/changes/new/", bulk_changes.order_changes_new, name="order_changes_new"),
    path(
        "orders/changes/preview/", bulk_changes.order_changes_preview, name="order_changes_preview"
    ),
    path("orders/changes/<uuid:change_id>/", bulk_changes.order_change, name="order_change"),
    path("orders/papers/", papers.paper_list, name="papers"),
    path("orders/papers/new/", papers.paper_new, name="paper_new"),
    path("orders/papers/<uuid:file_id>/", papers.paper_detail, name="paper"),
    path("orders/papers/<uuid:file_id>/file/", papers.paper_file, name="paper_file"),
    path("orders/<str:number>/", order.order_detail, name="order"),
    path("orders/<str:number>/move/", order.change_order_status, name="move"),
    path("orders/<str:number>/note/", order.add_staff_note, name="note"),
    path("orders/<str:number>/viewers/", order.list_order_viewers, name="viewers"),
    path("orders/<str:number>/mails/<uuid:mail_id>/", mails.order_mail, name="order_mail"),
    path(
        "orders/<str:number>/mails/<uuid:mail_id>/again/", mails.send_mail_again, name="mail_again"
    ),
    path("orders/<str:number>/tags/", order.change_order_tags, name="tags"),
    path("orders/<str:number>/pack/<str:warehouse>/", parcels.pack_parcel, name="pack"),
    path("orders/<str:number>/pack/<str:warehouse>/scan/", parcels.count_scanned, name="pack_scan"),
    path("orders/<str:number>/parcels/<str:parcel_id>/", parcels.update_parcel, name="parcel"),
    path("orders/<str:number>/returns/<str:return_id>/", returns.update_return, name="sent_back"),
    path(
        "orders/<str:number>/returns/<str:return_id>/refund/",
        money.decide_refund,
        name="return_refund",
    ),
    path("orders/<str:number>/refund/", money.decide_refund, name="refund"),
    path("orders/<str:number>/lines/", changes.change_lines, name="lines"),
    path("orders/<str:number>/address/", changes.change_delivery_address, name="door"),
    path("orders/<str:number>/received/", money.record_payment, name="received"),
    path("orders/<str:number>/money-sent/", money.record_manual_refund, name="money_sent"),
]
