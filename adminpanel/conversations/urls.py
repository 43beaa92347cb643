"""Addresses of the staff's pages about conversations, which pages call messages."""

from django.urls import include, path

from adminpanel.conversations.views import conversation, inbox, labels, replies, senders, start

_conversation_urls = [
    path("", conversation.conversation_detail, name="conversation"),
    path("reply/", conversation.send_reply, name="conversation_reply"),
    path("read/", conversation.read_conversation, name="conversation_read"),
    path("draft/", conversation.keep_draft, name="conversation_draft"),
    path("note/", conversation.add_note, name="conversation_note"),
    path("assign/", conversation.assign_conversation, name="conversation_assign"),
    path("state/", conversation.change_state, name="conversation_state"),
    path("labels/", conversation.change_labels, name="conversation_labels"),
    path("viewers/", conversation.list_viewers, name="conversation_viewers"),
    path(
        "files/<uuid:message_id>/<uuid:attachment_id>/",
        conversation.attachment_file,
        name="conversation_file",
    ),
]
_label_urls = [
    path("", labels.label_list, name="message_labels"),
    path("new/", labels.create_label, name="message_label_new"),
    path("<uuid:label_id>/", labels.label_detail, name="message_label"),
    path("<uuid:label_id>/empty/", labels.empty_label, name="message_label_empty"),
    path("<uuid:label_id>/delete/", labels.delete_label, name="message_label_delete"),
]
_reply_urls = [
    path("", replies.saved_replies, name="saved_replies"),
    path("new/", replies.create_saved_reply, name="saved_reply_new"),
    path("<uuid:key>/", replies.saved_reply, name="saved_reply"),
    path("<uuid:key>/remove/", replies.remove_saved_reply, name="saved_reply_remove"),
]
urlpatterns = [
    path("messages/", inbox.inbox, name="messages"),
    path("messages/change/", inbox.change_conversations, name="messages_change"),
    path("messages/new/", start.new_conversation, name="conversation_new"),
    path("messages/labels/", include(_label_urls)),
    path("messages/replies/", include(_reply_urls)),
    path("messages/blocked/", senders.blocked_senders, name="blocked_senders"),
    path("messages/blocked/add/", senders.block_sender, name="sender_block"),
    path("messages/blocked/remove/", senders.unblock_sender, name="sender_unblock"),
    path("messages/<uuid:conversation_id>/", include(_conversation_urls)),
]
