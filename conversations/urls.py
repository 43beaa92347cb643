"""The addresses of customers' messages."""

from django.urls import include, path

from conversations import attachment_views
from conversations.views import contact, labels, mailbox, thread

app_name = "conversations"
_conversation_urls = [
    path("", thread.conversation_detail, name="detail"),
    path("reply/", thread.send_reply, name="reply"),
    path("draft/", thread.keep_draft, name="draft"),
    path("read/", thread.read_conversation, name="read"),
    path(
        "files/<uuid:message_id>/<uuid:attachment_id>/",
        attachment_views.attachment_file,
        name="file",
    ),
]
_label_urls = [
    path("", labels.label_list, name="labels"),
    path("<uuid:label_id>/", labels.label_detail, name="label"),
    path("<uuid:label_id>/empty/", labels.empty_label, name="label_empty"),
    path("<uuid:label_id>/delete/", labels.delete_label, name="label_delete"),
]
urlpatterns = [
    path("contact/", contact.contact, name="contact"),
    path("contact/sent/", contact.contact_sent, name="contact_sent"),
    path("contact/<str:token>/", contact.confirm_contact, name="confirm"),
    path("messages/<str:token>/", thread.guest_conversation, name="guest"),
    path(
        "messages/<str:token>/files/<uuid:message_id>/<uuid:attachment_id>/",
        attachment_views.guest_attachment_file,
        name="guest_file",
    ),
    path("account/messages/", mailbox.message_list, name="list"),
    path("account/messages/change/", mailbox.change_conversations, name="change"),
    path("account/messages/labels/", include(_label_urls)),
    path("account/messages/<uuid:conversation_id>/", include(_conversation_urls)),
]
