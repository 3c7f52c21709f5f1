"""Uploaded and seeded files: writes go to the session's directory, reads fall back to the read-only seed."""

import os
from pathlib import Path
from typing import Any

from django.core.files.storage import FileSystemStorage
from django.utils._os import safe_join

from suite import config, context


class OverlayStorage(FileSystemStorage):
    """A FileSystemStorage whose root is the session's media folder, laid over the seed's."""

    @property
    def base_location(self) -> str:
        request = context.current()
        return str((request.directory if request else config.load().seed_dir) / "media")

    @property
    def location(self) -> str:
        return os.path.abspath(self.base_location)

    def path(self, name: str) -> str:
        own = safe_join(self.location, name)
        seeded = safe_join(str(config.load().seed_dir / "media"), name)
        return str(own if os.path.exists(own) or not os.path.exists(seeded) else seeded)

    def delete(self, name: str) -> None:
        """Deletes a file of the session; the seed's files stay, other sessions read them."""
        if context.current() is None or Path(self.path(name)).is_relative_to(self.location):
            super().delete(name)

    def get_alternative_name(self, file_root: str, file_ext: str) -> str:
        """Counts up instead of drawing random letters: names are visible."""
        number = 2
        while self.exists(f"{file_root}_{number}{file_ext}"):
            number += 1
        return f"{file_root}_{number}{file_ext}"


class PlainThumbnailer:
    """oscar's thumbnailer without sorl, which would write to the database while a page is shown."""

    def generate_thumbnail(self, source: Any, **options: Any) -> Any:
        """The original image."""
        return source

    def delete_thumbnails(self, source: Any) -> None:
        """There are none."""
