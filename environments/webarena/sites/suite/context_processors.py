"""Template context of the applications, each on its own site only."""

from typing import Any

from django.http import HttpRequest
from machina.core.context_processors import metadata as machina_metadata
from oscar.apps.checkout.context_processors import checkout
from oscar.apps.communication.notifications.context_processors import notifications
from oscar.apps.search.context_processors import search_form
from oscar.core.context_processors import metadata as oscar_metadata

from suite.middleware import is_site


def shop(request: HttpRequest) -> dict[str, Any]:
    """What oscar's templates expect."""
    if not is_site("shop"):
        return {}
    return {**search_form(request), **checkout(request), **notifications(request), **oscar_metadata(request)}


def forum(request: HttpRequest) -> dict[str, Any]:
    """What machina's templates expect."""
    return dict(machina_metadata(request)) if is_site("forum") else {}
