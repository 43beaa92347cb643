"""The staff's pages. Every view declares by `staff_required` who may see it."""

from django.urls import path

from adminpanel.board.views import choose_board_columns, order_board
from adminpanel.catalogue.views import (
    bulk_changes,
    categories,
    category_picture,
    front_page,
    pictures,
    products,
)
from adminpanel.customers.views import customers, drafts
from adminpanel.files import views as spreadsheets
from adminpanel.moderation.views import questions, reviews
from adminpanel.orders.views import changes, fulfilment, mails, orders, papers, tags, viewers
from adminpanel.people.views import audit_log, people, second_factor
from adminpanel.promotions import views as promotions
from adminpanel.reports.views import climate, live, sales, visits
from adminpanel.search import views
from adminpanel.settings import views as shop_settings
from adminpanel.stock.views import stock, stock_items
from adminpanel.system.views import system, worker
from adminpanel.system.views.mails import allow_mail, mail_trouble

app_name = "adminpanel"
urlpatterns = [
    path("", order_board, name="board"),
    path("orders/columns/", choose_board_columns, name="board_columns"),
    path("search/", views.search, name="search"),
    path("orders/changes/", changes.order_changes, name="order_changes"),
    path("orders/changes/new/", changes.order_changes_new, name="order_changes_new"),
    path(
        "orders/changes/preview/",
        changes.order_changes_preview,
        name="order_changes_preview",
    ),
    path("orders/changes/<uuid:change_id>/", changes.order_change, name="order_change"),
    path("orders/papers/", papers.paper_list, name="papers"),
    path("orders/papers/new/", papers.paper_new, name="paper_new"),
    path("orders/papers/<uuid:file_id>/", papers.paper_detail, name="paper"),
    path("orders/papers/<uuid:file_id>/file/", papers.paper_file, name="paper_file"),
    path("orders/<str:number>/", orders.order_detail, name="order"),
    path("orders/<str:number>/move/", orders.change_order_status, name="move"),
    path("orders/<str:number>/note/", orders.add_staff_note, name="note"),
    path("orders/<str:number>/viewers/", viewers.list_order_viewers, name="viewers"),
    path("orders/<str:number>/mails/<uuid:mail_id>/", mails.order_mail, name="order_mail"),
    path(
        "orders/<str:number>/mails/<uuid:mail_id>/again/",
        mails.send_mail_again,
        name="mail_again",
    ),
    path("orders/<str:number>/tags/", tags.change_order_tags, name="tags"),
    path("orders/<str:number>/pack/<str:warehouse>/", fulfilment.pack_parcel, name="pack"),
    path(
        "orders/<str:number>/pack/<str:warehouse>/scan/",
        fulfilment.count_scanned,
        name="pack_scan",
    ),
    path("orders/<str:number>/parcels/<str:parcel_id>/", fulfilment.update_parcel, name="parcel"),
    path(
        "orders/<str:number>/returns/<str:return_id>/", fulfilment.update_return, name="sent_back"
    ),
    path(
        "orders/<str:number>/returns/<str:return_id>/refund/",
        fulfilment.decide_refund,
        name="return_refund",
    ),
    path("orders/<str:number>/refund/", fulfilment.decide_refund, name="refund"),
    path("orders/<str:number>/lines/", fulfilment.change_lines, name="lines"),
    path("orders/<str:number>/address/", fulfilment.change_delivery_address, name="door"),
    path("orders/<str:number>/received/", fulfilment.record_payment, name="received"),
    path("orders/<str:number>/money-sent/", fulfilment.record_manual_refund, name="money_sent"),
    path("drafts/", drafts.draft_list, name="drafts"),
    path("drafts/new/", drafts.draft_new, name="draft_new"),
    path("drafts/<uuid:draft_id>/", drafts.draft_detail, name="draft"),
    path("drafts/<uuid:draft_id>/send/", drafts.send_draft, name="draft_send"),
    path("drafts/<uuid:draft_id>/order/", drafts.order_draft, name="draft_order"),
    path("drafts/<uuid:draft_id>/delete/", drafts.delete_draft, name="draft_delete"),
    path("customers/", customers.customer_list, name="customers"),
    path("customers/find/", customers.find_customer, name="customer_find"),
    path("customers/<uuid:user_id>/", customers.customer_detail, name="customer"),
    path("customers/<uuid:user_id>/note/", customers.note_on_customer, name="customer_note"),
    path("customers/<uuid:user_id>/block/", customers.block_customer, name="customer_block"),
    path("customers/<uuid:user_id>/unblock/", customers.unblock_customer, name="customer_unblock"),
    path("customers/<uuid:user_id>/export/", customers.export_customer, name="customer_export"),
    path("customers/<uuid:user_id>/erase/", customers.erase_customer, name="customer_erase"),
    path("second-factor/", second_factor.second_factor, name="second_factor"),
    path(
        "second-factor/picture.svg",
        second_factor.second_factor_qr_code,
        name="second_factor_picture",
    ),
    path("second-factor/codes/", second_factor.renew_recovery_codes, name="recovery_codes"),
    path("people/", people.staff_list, name="people"),
    path("people/find/", people.find_person, name="person_find"),
    path("people/<uuid:user_id>/", people.person_detail, name="person"),
    path("people/<uuid:user_id>/role/", people.change_person_role, name="person_role"),
    path("people/<uuid:user_id>/sessions/", people.end_person_sessions, name="person_sessions_end"),
    path(
        "people/<uuid:user_id>/second-factor/",
        people.reset_person_second_factor,
        name="person_factor_reset",
    ),
    path("log/", audit_log.audit_log_page, name="log"),
    path("sales/", sales.sales_report, name="sales"),
    path("reviews/", reviews.review_queue, name="reviews"),
    path("reviews/<uuid:product_id>/<uuid:user_id>/", reviews.review_detail, name="review"),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/decide/",
        reviews.review_decide,
        name="review_decide",
    ),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/remove-picture/",
        reviews.review_picture_remove,
        name="review_picture_remove",
    ),
    path(
        "reviews/<uuid:product_id>/<uuid:user_id>/answer/",
        reviews.review_answer,
        name="review_answer",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/",
        questions.question_detail,
        name="question",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/decide/",
        questions.question_decide,
        name="question_decide",
    ),
    path(
        "reviews/questions/<uuid:product_id>/<uuid:question_id>/<uuid:answer_id>/answer/",
        questions.question_answer,
        name="question_answer",
    ),
    path("live/", live.live_visits, name="live"),
    path("visits/", visits.visits_report, name="visits"),
    path("mail/", mail_trouble, name="mails"),
    path("mail/allow/", allow_mail, name="mail_allow"),
    path("climate/", climate.climate_day, name="climate"),
    path("worker/", worker.worker_status, name="worker"),
    path("system/", system.system_status, name="system"),
    path("products/", products.product_list, name="products"),
    path("products/new/", products.create_product, name="product_new"),
    path("products/change/", bulk_changes.change_products, name="bulk_change_new"),
    path("products/changes/", bulk_changes.change_list, name="bulk_changes"),
    path("products/changes/<uuid:change_id>/", bulk_changes.change_detail, name="bulk_change"),
    path(
        "products/changes/<uuid:change_id>/undo/",
        bulk_changes.undo_change,
        name="bulk_change_undo",
    ),
    path("products/<uuid:product_id>/", products.product_detail, name="product"),
    path(
        "products/<uuid:product_id>/status/",
        products.change_product_status,
        name="product_status",
    ),
    path("products/<uuid:product_id>/copy/", products.duplicate_product, name="product_copy"),
    path("products/<uuid:product_id>/options/", products.product_options, name="product_options"),
    path("products/<uuid:product_id>/stock/", stock.product_stock, name="product_stock"),
    path(
        "products/<uuid:product_id>/pictures/",
        pictures.product_pictures,
        name="product_pictures",
    ),
    path(
        "products/<uuid:product_id>/pictures/upload/",
        pictures.upload_pictures,
        name="product_upload",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/",
        products.update_variant,
        name="product_variant",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/price/",
        products.update_price,
        name="product_price",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/count/",
        products.update_stock,
        name="product_count",
    ),
    path(
        "products/<uuid:product_id>/variants/<uuid:variant_id>/prices/",
        products.variant_prices,
        name="product_prices",
    ),
    path("stock/", stock.stock_list, name="stock"),
    path("stock/mail/", stock.set_stock_mail, name="stock_mail"),
    path("stock/transfers/", stock_items.stock_transfers, name="stock_transfers"),
    path(
        "stock/transfers/<uuid:transfer_id>/",
        stock_items.end_stock_transfer,
        name="stock_transfer_end",
    ),
    path("stock/<uuid:product_id>/<uuid:variant_id>/", stock_items.stock_item, name="stock_item"),
    path(
        "stock/<uuid:product_id>/<uuid:variant_id>/threshold/",
        stock_items.set_stock_threshold,
        name="stock_threshold",
    ),
    path(
        "stock/<uuid:product_id>/<uuid:variant_id>/place/",
        stock_items.set_stock_place,
        name="stock_place",
    ),
    path(
        "stock/<uuid:product_id>/<uuid:variant_id>/transfer/",
        stock_items.start_stock_transfer,
        name="stock_transfer_new",
    ),
    path("spreadsheets/", spreadsheets.spreadsheet_list, name="spreadsheets"),
    path("spreadsheets/columns/", spreadsheets.spreadsheet_help, name="spreadsheet_help"),
    path(
        "spreadsheets/columns/<slug:layout>.csv",
        spreadsheets.spreadsheet_example,
        name="spreadsheet_example",
    ),
    path("spreadsheets/import/upload/", spreadsheets.import_new, name="import_new"),
    path("spreadsheets/export/", spreadsheets.export_new, name="export_new"),
    path("spreadsheets/<uuid:task_id>/", spreadsheets.spreadsheet_detail, name="spreadsheet"),
    path("spreadsheets/<uuid:task_id>/apply/", spreadsheets.import_apply, name="import_apply"),
    path("spreadsheets/<uuid:task_id>/file/", spreadsheets.export_file, name="export_file"),
    path("categories/", categories.category_tree, name="categories"),
    path("categories/new/", categories.create_category, name="category_new"),
    path("categories/move/", categories.move_category, name="category_move"),
    path("categories/<uuid:category_id>/", categories.category_detail, name="category"),
    path(
        "categories/<uuid:category_id>/picture/",
        category_picture.category_picture,
        name="category_picture",
    ),
    path(
        "categories/<uuid:category_id>/picture/upload/",
        category_picture.upload_category_pictures,
        name="category_upload",
    ),
    path("categories/<uuid:category_id>/order/", categories.category_order, name="category_order"),
    path(
        "categories/<uuid:category_id>/remove/",
        categories.remove_category,
        name="category_remove",
    ),
    path("front-page/", front_page.front_page, name="front_page"),
    path("front-page/<str:row>/", front_page.pin_on_front_page, name="front_page_row"),
    path("settings/", shop_settings.setting_list, name="settings"),
    path("settings/delivery/", shop_settings.delivery_methods, name="delivery_methods"),
    path(
        "settings/delivery/new/", shop_settings.create_delivery_method, name="delivery_method_new"
    ),
    path("settings/delivery/<slug:key>/", shop_settings.delivery_method, name="delivery_method"),
    path(
        "settings/delivery/<slug:key>/remove/",
        shop_settings.remove_delivery_method,
        name="delivery_method_remove",
    ),
    path("settings/warehouses/", shop_settings.warehouses, name="warehouses"),
    path("settings/warehouses/new/", shop_settings.create_warehouse, name="warehouse_new"),
    path("settings/warehouses/<slug:key>/", shop_settings.warehouse_detail, name="warehouse"),
    path("settings/terms/", shop_settings.terms_list, name="terms"),
    path("settings/terms/new/", shop_settings.create_terms, name="terms_new"),
    path("settings/terms/<slug:key>/", shop_settings.terms_detail, name="terms_detail"),
    path("settings/weights/", shop_settings.parcel_weights, name="parcel_weights"),
    path("settings/reviews/", shop_settings.review_rules, name="review_rules"),
    path("settings/taxes/", shop_settings.tax_rates, name="tax_rates"),
    path("settings/taxes/<slug:key>/", shop_settings.country_tax, name="country_tax"),
    path("promotions/", promotions.promotion_list, name="promotions"),
    path("promotions/make/", promotions.create_promotion, name="promotion_make"),
    path(
        "promotions/<slug:trigger>/<str:name>/end/", promotions.end_promotion, name="promotion_end"
    ),
    path(
        "promotions/<slug:trigger>/<str:name>/resume/",
        promotions.resume_promotion,
        name="promotion_resume",
    ),
]
