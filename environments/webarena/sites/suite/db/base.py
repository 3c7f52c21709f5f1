"""Opens the sqlite file of the running request's session, and never falls back to a shared one."""

from typing import Any

from django.db.backends.sqlite3 import base

from suite import config, context


class DatabaseWrapper(base.DatabaseWrapper):
    """The file follows from the context alone: settings_dict is shared by all threads and stays as it is."""

    def get_connection_params(self) -> dict[str, Any]:
        """Connection parameters, with the session's database in place of the configured one.

        Raises:
            RuntimeError: there is no session in context and this process does not build the seed.
        """
        parameters: dict[str, Any] = super().get_connection_params()
        request = context.current()
        if request is not None:
            parameters.update(database=f"file:{request.database}?mode=rw", uri=True)
        elif not config.load().building:
            raise RuntimeError("no session in context: database access refused")
        return parameters
