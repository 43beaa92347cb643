"""Addresses of the staff's pages about the shop's settings."""

from django.urls import path

from adminpanel.settings import brand_views, mail_texts, menus, views

urlpatterns = [
    path("settings/", views.setting_list, name="settings"),
    path("settings/brand/", brand_views.brand, name="brand"),
    path("settings/brand/preview/", brand_views.preview_brand, name="brand_preview"),
    path("settings/brand/restore/", brand_views.restore_brand, name="brand_restore"),
    path("settings/brand/upload/", brand_views.upload_brand_pictures, name="brand_upload"),
    path("settings/delivery/", views.delivery_methods, name="delivery_methods"),
    path("settings/delivery/new/", views.create_delivery_method, name="delivery_method_new"),
    path("settings/delivery/<slug:key>/", views.delivery_method, name="delivery_method"),
    path(
        "settings/delivery/<slug:key>/remove/",
        views.remove_delivery_method,
        name="delivery_method_remove",
    ),
    path("settings/mails/", mail_texts.mail_text_list, name="mail_texts"),
    path("settings/mails/<slug:key>/", mail_texts.mail_text, name="mail_text"),
    path(
        "settings/mails/<slug:key>/preview/", mail_texts.preview_mail_text, name="mail_text_preview"
    ),
    path("settings/mails/<slug:key>/test/", mail_texts.send_test_mail, name="mail_text_test"),
    path("settings/mails/<slug:key>/reset/", mail_texts.reset_mail_text, name="mail_text_reset"),
    path("settings/warehouses/", views.warehouses, name="warehouses"),
    path("settings/warehouses/new/", views.create_warehouse, name="warehouse_new"),
    path("settings/warehouses/<slug:key>/", views.warehouse_detail, name="warehouse"),
    path("settings/terms/", views.terms_list, name="terms"),
    path("settings/terms/new/", views.create_terms, name="terms_new"),
    path("settings/terms/<slug:key>/", views.terms_detail, name="terms_detail"),
    path("settings/weights/", views.parcel_weights, name="parcel_weights"),
    path("settings/reviews/", views.review_rules, name="review_rules"),
    path("settings/taxes/", views.tax_rates, name="tax_rates"),
    path("settings/taxes/<slug:key>/", views.country_tax, name="country_tax"),
    path("menus/", menus.menu_list, name="menus"),
    path("menus/<slug:key>/", menus.menu_detail, name="menu"),
]
