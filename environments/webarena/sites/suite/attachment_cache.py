"""The cache in which the forum keeps uploads between preview and submit: a folder of the session."""

import os
from typing import Any

from django.core.cache.backends.base import BaseCache
from django.core.cache.backends.filebased import FileBasedCache

from suite import context


class SessionFileCache(FileBasedCache):
    """A file cache that ends with its session and is shared by the workers."""

    def __init__(self, location: str, params: dict[str, Any]) -> None:
        BaseCache.__init__(self, params)  # FileBasedCache's own would create one folder for all sessions
        self._name = location

    @property
    def _dir(self) -> str:
        request = context.current()
        if request is None:
            raise RuntimeError("no session in context: cache access refused")
        return os.path.join(request.directory, self._name)
