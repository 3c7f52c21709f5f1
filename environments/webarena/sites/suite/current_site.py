"""django.contrib.sites without its process-wide cache: the site is the host of the running request."""

from django.contrib.sites.models import Site, SiteManager
from django.http import HttpRequest

from suite import config, context


def _site_by_id(self: SiteManager, site_id: int) -> Site:
    request = context.current()
    host = request.host if request else config.load().hosts["shop"]
    return Site(pk=site_id, domain=host, name=host)


def _site_by_request(self: SiteManager, request: HttpRequest) -> Site:
    return _site_by_id(self, 1)


def install() -> None:
    """Replaces the lookups that would keep the first session's site for all others."""
    SiteManager._get_site_by_id = _site_by_id
    SiteManager._get_site_by_request = _site_by_request
