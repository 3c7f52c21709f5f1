"""Who is logged in at the start of a session: each person's session data, from which the parent makes a row.

The data lies in a file of its own, not in the database: a row whose key is known beforehand could be guessed.
"""

import json

from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from suite import config
from suite.seed.people import People

BACKEND = "django.contrib.auth.backends.ModelBackend"


def write(people: People) -> None:
    """Writes `logins.json`: user name -> the content of django_session.session_data."""
    logins = {
        user.username: SessionStore().encode(
            {
                SESSION_KEY: str(user.pk),
                BACKEND_SESSION_KEY: BACKEND,
                HASH_SESSION_KEY: user.get_session_auth_hash(),
            }
        )
        for user in people.everyone
    }
    (config.load().seed_dir / "logins.json").write_text(json.dumps(logins))
