"""The local suite: a shop, a forum and a wiki as one Django project, one sqlite file a session."""
