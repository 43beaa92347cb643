"""The states of comments, besides those of moderation.states."""

# A comment that the post's author has hidden: only its writer and the post's author see it.
HIDDEN = "hidden"
