"""What staff see and do. Every view declares by `staff_required` who may."""

from django.urls import path

from adminpanel.views import (
    fulfilling,
    log,
    orders,
    people,
    promotions,
    sales,
    second_factor,
    worker,
)

app_name = "adminpanel"
urlpatterns = [
    path("", orders.board, name="board"),
    path("find/", orders.find, name="find"),
    path("orders/<str:number>/", orders.order, name="order"),
    path("orders/<str:number>/move/", orders.move, name="move"),
    path("orders/<str:number>/note/", orders.note, name="note"),
    path("orders/<str:number>/pack/<str:house>/", fulfilling.pack, name="pack"),
    path("orders/<str:number>/parcels/<str:parcel_id>/", fulfilling.parcel, name="parcel"),
    path("orders/<str:number>/returns/<str:return_id>/", fulfilling.sent_back, name="sent_back"),
    path(
        "orders/<str:number>/returns/<str:return_id>/refund/",
        fulfilling.refund,
        name="return_refund",
    ),
    path("orders/<str:number>/refund/", fulfilling.refund, name="refund"),
    path("orders/<str:number>/lines/", fulfilling.lines, name="lines"),
    path("orders/<str:number>/address/", fulfilling.door, name="door"),
    path("orders/<str:number>/received/", fulfilling.received, name="received"),
    path("orders/<str:number>/money-sent/", fulfilling.money_sent, name="money_sent"),
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path(
        "second-factor/picture.svg",
        second_factor.second_factor_picture,
        name="second_factor_picture",
    ),
    path("second-factor/codes/", second_factor.recovery_codes, name="recovery_codes"),
    path("people/", people.people, name="people"),
    path("people/find/", people.person_find, name="person_find"),
    path("people/<uuid:user_id>/", people.person, name="person"),
    path("people/<uuid:user_id>/role/", people.person_role, name="person_role"),
    path("people/<uuid:user_id>/sessions/", people.person_sessions_end, name="person_sessions_end"),
    path(
        "people/<uuid:user_id>/second-factor/",
        people.person_factor_reset,
        name="person_factor_reset",
    ),
    path("log/", log.log, name="log"),
    path("sales/", sales.sales, name="sales"),
    path("worker/", worker.worker, name="worker"),
    path("promotions/", promotions.promotions, name="promotions"),
    path("promotions/make/", promotions.promotion_make, name="promotion_make"),
    path("promotions/<slug:shelf>/<str:name>/end/", promotions.promotion_end, name="promotion_end"),
]
