"""The errors of conversations."""


class ConversationError(Exception):
    """The base of these errors."""


class NoSuchConversation(ConversationError):
    """The conversation does not exist, or it is another person's."""


class NoSuchLabel(ConversationError):
    """The mailbox has no such label."""


class LabelNameTaken(ConversationError):
    """Another label of the mailbox has this name."""


class TooManyLabels(ConversationError):
    """A conversation or a mailbox has as many labels as it may have."""


class ConversationChanged(ConversationError):
    """The conversation has changed since it was read."""


class SenderBlocked(ConversationError):
    """The shop takes no messages from this sender."""


class AttachmentMissing(ConversationError):
    """A part of a file is not stored, because its message is being deleted."""


class AttachmentRefused(ConversationError):
    """A file may not be attached; the text says why."""
