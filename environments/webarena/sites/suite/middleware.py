"""Routes each site to its urls, and keeps the middleware of one application off the others' pages."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from machina.apps.forum_permission.middleware import ForumPermissionMiddleware
from oscar.apps.basket.middleware import BasketMiddleware

from suite import context
from suite.uploads import uploaded

View = Callable[[HttpRequest], HttpResponse]


def is_site(name: str) -> bool:
    """Whether the running request addresses the site `name`."""
    request = context.current()
    return request is not None and request.site == name


class SiteMiddleware:
    """Chooses the urls of the site a request addresses; answers for uploaded files before anyone asks for the person.

    A file that everyone gets alike does not vary with cookies, so a browser fetches it once.
    """

    def __init__(self, get_response: View) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        current = context.current()
        if current is None:
            raise RuntimeError("a request reached Django without a session")
        request.urlconf = f"suite.urls.{current.site}"
        if request.path_info.startswith(settings.MEDIA_URL):
            return uploaded(request.path_info.removeprefix(settings.MEDIA_URL))
        return self.get_response(request)


class ShopBasketMiddleware(BasketMiddleware):
    """oscar's basket, on the shop only. Django needs real methods: it looks for hooks on the instance."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return super().__call__(request) if is_site("shop") else self.get_response(request)

    def process_template_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        return super().process_template_response(request, response) if is_site("shop") else response


class ForumOnlyPermissionMiddleware(ForumPermissionMiddleware):
    """machina's permission handler, on the forum only."""

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return super().__call__(request) if is_site("forum") else self.get_response(request)
