"""Puts the sites together: Django with the session's clock, and the static files in front of it."""

import os
from importlib import import_module

import django
from django.core.wsgi import get_wsgi_application
from django.template import engines
from whitenoise import WhiteNoise

from suite import clock
from suite.config import SuiteConfig
from suite.proxy import Application

SITE_URLCONFS = {"shop": "suite.urls.shop", "forum": "suite.urls.forum", "wiki": "suite.urls.wiki"}
ONE_YEAR_S = 31_536_000


def load_applications() -> None:
    """Imports everything the sites are made of, then puts the session's clock into it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "suite.settings")
    django.setup(set_prefix=False)
    for urlconf in SITE_URLCONFS.values():
        import_module(urlconf)
    engines.all()
    from suite import dashboard_tables, randomness  # their imports need the loaded applications

    clock.install()
    randomness.install()
    dashboard_tables.install()


def create_sites(configuration: SuiteConfig) -> Application:
    """The sites as one WSGI application; it expects every request inside `context.serving`."""
    load_applications()
    sites: Application = WhiteNoise(
        get_wsgi_application(),
        root=str(configuration.seed_dir / "static"),
        prefix="/static/",
        max_age=ONE_YEAR_S,
        immutable_file_test=lambda path, url: True,
    )
    return sites
