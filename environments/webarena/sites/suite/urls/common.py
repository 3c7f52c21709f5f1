"""Addresses that every site has: uploaded files, the favicon, and the language switch oscar's templates link to."""

import mimetypes
from pathlib import Path

from django.conf.urls import i18n
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.urls import include, path, re_path


def media(request: HttpRequest, name: str) -> FileResponse:
    """An uploaded or seeded file."""
    file = Path(default_storage.path(name))
    if not file.is_file():
        raise Http404(name)
    response = FileResponse(file.open("rb"), content_type=mimetypes.guess_type(file.name)[0])
    response["Cache-Control"] = "max-age=3600"
    return response


def favicon(request: HttpRequest) -> HttpResponse:
    """Nothing: browsers ask for it unasked, and the wiki would take it for the name of an article."""
    return HttpResponse(status=204, headers={"Cache-Control": "max-age=86400"})


urlpatterns = [
    path("i18n/", include(i18n)),
    path("favicon.ico", favicon),
    re_path(r"^media/(?P<name>.+)$", media),
]
