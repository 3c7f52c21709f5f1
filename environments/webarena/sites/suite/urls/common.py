"""Addresses that every site has: the favicon, and the language switch oscar's templates link to."""

from django.conf.urls import i18n
from django.http import HttpRequest, HttpResponse
from django.urls import include, path


def favicon(request: HttpRequest) -> HttpResponse:
    """Nothing: browsers ask for it unasked, and the wiki would take it for the name of an article."""
    return HttpResponse(status=204, headers={"Cache-Control": "max-age=86400"})


urlpatterns = [
    path("i18n/", include(i18n)),
    path("favicon.ico", favicon),
]
