"""Local web applications for browsers: a shop, a forum and a wiki, with a database a session."""

from .changes import TableChange
from .errors import SitesError
from .host import DEFAULT_HOSTS, SitesHost
from .session import DEFAULT_CLOCK, SESSION_COOKIE, SiteSession
from .traffic import RequestRecord

__all__ = [
    "DEFAULT_CLOCK",
    "DEFAULT_HOSTS",
    "SESSION_COOKIE",
    "RequestRecord",
    "SiteSession",
    "SitesError",
    "SitesHost",
    "TableChange",
]
