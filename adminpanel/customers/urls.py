"""Addresses of the staff's pages about customers and draft orders."""

from django.urls import path

from adminpanel.customers.views import customer, customer_list, drafts

urlpatterns = [
    path("drafts/", drafts.draft_list, name="drafts"),
    path("drafts/new/", drafts.draft_new, name="draft_new"),
    path("drafts/<uuid:draft_id>/", drafts.draft_detail, name="draft"),
    path("drafts/<uuid:draft_id>/send/", drafts.send_draft, name="draft_send"),
    path("drafts/<uuid:draft_id>/order/", drafts.order_draft, name="draft_order"),
    path("drafts/<uuid:draft_id>/delete/", drafts.delete_draft, name="draft_delete"),
    path("customers/", customer_list.customer_list, name="customers"),
    path("customers/find/", customer_list.find_customer, name="customer_find"),
    path("customers/export/", customer_list.export_customers, name="customers_export"),
    path("customers/<uuid:user_id>/", customer.customer_detail, name="customer"),
    path("customers/<uuid:user_id>/note/", customer.note_on_customer, name="customer_note"),
    path("customers/<uuid:user_id>/block/", customer.block_customer, name="customer_block"),
    path("customers/<uuid:user_id>/unblock/", customer.unblock_customer, name="customer_unblock"),
    path("customers/<uuid:user_id>/export/", customer.export_customer, name="customer_export"),
    path("customers/<uuid:user_id>/erase/", customer.erase_customer, name="customer_erase"),
]
