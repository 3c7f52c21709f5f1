"""The suite as a Django application."""

from django.apps import AppConfig


class SuiteConfig(AppConfig):
    """Puts the running request's host name into Django's sites framework."""

    name = "suite"

    def ready(self) -> None:
        from suite import current_site

        current_site.install()
