"""Uploaded and seeded files, the same for everyone who may see the session."""

import mimetypes
from pathlib import Path

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404


def uploaded(name: str) -> FileResponse:
    """The file of that name.

    Raises:
        Http404: there is none.
    """
    file = Path(default_storage.path(name))
    if not file.is_file():
        raise Http404(name)
    response = FileResponse(file.open("rb"), content_type=mimetypes.guess_type(file.name)[0])
    response["Cache-Control"] = "max-age=3600"
    return response
