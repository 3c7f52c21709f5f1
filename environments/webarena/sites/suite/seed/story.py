"""Fills a new database with everything, site by site."""

from collections.abc import Callable

from django.contrib.sites.models import Site
from django.urls import set_urlconf

from suite import config
from suite.seed import forum, logins, people, shop, wiki


def fill(report: Callable[[str], None]) -> None:
    """Fills the freshly created tables; `report` is told each stage. Needs the clock at FIRST_MOMENT."""
    host = config.load().hosts["shop"]
    Site.objects.update_or_create(pk=1, defaults={"domain": host, "name": host})
    crowd = people.fill()
    for name, stage in (("shop", shop.fill), ("forum", forum.fill), ("wiki", wiki.fill)):
        report(f"filling the {name}")
        set_urlconf(f"suite.urls.{name}")  # signal handlers make addresses of their site
        stage(crowd)
    set_urlconf(None)
    logins.write(crowd)
