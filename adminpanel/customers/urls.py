"""Addresses of the staff's pages: customers and drafts."""

from django.urls import path

from adminpanel.customers.views import customers, drafts

urlpatterns = [
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
]
