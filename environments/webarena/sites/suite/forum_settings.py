"""Options of the forum (django-machina)."""

MACHINA_FORUM_NAME = "Postboard"
MACHINA_MARKUP_WIDGET = None  # a plain text area: the editor would load an icon font from another host
MACHINA_DEFAULT_AUTHENTICATED_USER_FORUM_PERMISSIONS = [
    "can_see_forum",
    "can_read_forum",
    "can_start_new_topics",
    "can_reply_to_topics",
    "can_edit_own_posts",
    "can_delete_own_posts",
    "can_post_without_approval",
    "can_create_polls",
    "can_vote_in_polls",
    "can_attach_file",
    "can_download_file",
]
