"""Recording: every record is written before the step is acknowledged.

With a folder, records go to one append-only journal of this process, `DIR/<started>-<pid>.jsonl` (a record a line,
joined by session id; `envhub.sdk.read_trajectories` reads it), images to `DIR/blobs/`. A line is handed to the kernel
before the reply leaves, so it survives kill -9 of the server. Without a folder, records live as long as the session
can be read.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from envhub.sdk.errors import EnvironmentFailed, ServerError
from envhub.sdk.messages import ImagePart, Observation, Part, ToolResultPart

Place = tuple[int, int]
"""Where a line lies in the journal: offset and length in bytes."""

Done = Callable[[ServerError | None], None]
"""Told that a record was written, or why it could not be."""


class Log(Protocol):
    """The records of one session."""

    def append(self, line: bytes) -> None:
        """Write one record (JSON without a newline) now.

        Raises:
            ServerError: it could not be written; what it tells must not be acknowledged.
        """
        ...

    def append_soon(self, line: bytes, done: Done) -> None:
        """Write one record with all others of this turn of the event loop, then call `done`."""
        ...

    def read(self) -> bytes:
        """All records so far, a line each."""
        ...


class Recorder(Protocol):
    """Where logs come from."""

    def new_log(self) -> Log: ...

    def stored(self, observation: Observation) -> Observation:
        """The observation as it is recorded: images by digest where there is a place for blobs."""
        ...

    def close(self) -> None: ...


class MemoryLog:
    """Records in memory."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def append(self, line: bytes) -> None:
        self._lines.append(line)

    def append_soon(self, line: bytes, done: Done) -> None:
        self._lines.append(line)
        done(None)

    def read(self) -> bytes:
        return b"".join(line + b"\n" for line in self._lines)


class MemoryRecorder:
    """Keeps each session's records in memory."""

    def new_log(self) -> Log:
        return MemoryLog()

    def stored(self, observation: Observation) -> Observation:
        return observation

    def close(self) -> None:
        return None


class JournalRecorder:
    """Appends all sessions' records to one file of this process."""

    def __init__(self, folder: Path) -> None:
        started = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
        self.path = folder / f"{started}-{os.getpid()}.jsonl"
        self._blobs = folder / "blobs"
        try:
            self._blobs.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            raise ServerError(
                f"cannot record into {folder}: {error.strerror}; give --record a writable folder"
            ) from error
        self.size = os.fstat(self._file).st_size
        """Bytes written, and those that wait to be."""
        self._lines: list[bytes] = []
        self._waiting: list[tuple[list[Place], Place, Done]] = []

    def new_log(self) -> Log:
        return _JournalLog(self)

    def stored(self, observation: Observation) -> Observation:
        for part in observation.parts:
            if part.type != "text":
                break
        else:
            return observation
        return Observation(parts=tuple(self._part(part) for part in observation.parts))

    def _part(self, part: Part) -> Part:
        if isinstance(part, ImagePart):
            return self._image(part)
        if isinstance(part, ToolResultPart):
            content = tuple(self._image(p) if isinstance(p, ImagePart) else p for p in part.content)
            return part.model_copy(update={"content": content})
        return part

    def _image(self, part: ImagePart) -> ImagePart:
        if part.data is None:
            return part
        try:
            raw = base64.b64decode(part.data)
        except (binascii.Error, ValueError) as error:
            raise EnvironmentFailed(f"the environment gave an image whose data is no base64: {error}") from error
        name = hashlib.sha256(raw).hexdigest()
        file = self._blobs / name
        if not file.exists():
            temporary = file.with_suffix(f".{os.getpid()}")
            temporary.write_bytes(raw)
            temporary.rename(file)
        return ImagePart(media_type=part.media_type, digest=f"sha256:{name}")

    def add(self, line: bytes, places: list[Place], done: Done) -> None:
        """Take one line, to be written by the next flush, which adds its place and calls `done`."""
        place = (self.size, len(line) + 1)
        self.size += place[1]
        if not self._lines:
            asyncio.get_running_loop().call_soon(self.flush)
        self._lines.append(line)
        self._waiting.append((places, place, done))

    def flush(self) -> ServerError | None:
        """Write every line taken so far with one system call, then tell those who wait. Returns what failed."""
        if not self._lines:
            return None
        data = b"\n".join(self._lines) + b"\n"
        told = self._waiting
        self._lines, self._waiting = [], []
        error = self._write(data)
        for places, place, done in told:
            if error is None:  # else others' lines will lie there
                places.append(place)
            done(error)
        return error

    def _write(self, data: bytes) -> ServerError | None:
        try:
            written = os.write(self._file, data)
            if written == len(data):
                return None
            reason = "the disk is full"
        except OSError as error:
            reason = error.strerror or str(error)
        try:  # no half line may stay: the next one starts on a line of its own
            os.ftruncate(self._file, self.size - len(data))
            self.size -= len(data)
        except OSError:
            self.size = os.fstat(self._file).st_size
        return ServerError(f"cannot write to {self.path}: {reason}; nothing of it was acknowledged")

    def read(self, offset: int, length: int) -> bytes:
        """A stretch of the file."""
        return os.pread(self._file, length, offset)

    def close(self) -> None:
        self.flush()
        os.close(self._file)


def _nobody_waits(_: ServerError | None) -> None:
    """The flush that follows tells."""


class _JournalLog:
    """One session's lines in the journal, by place."""

    __slots__ = ("_journal", "_places")

    def __init__(self, journal: JournalRecorder) -> None:
        self._journal = journal
        self._places: list[Place] = []

    def append(self, line: bytes) -> None:
        self.append_soon(line, _nobody_waits)
        error = self._journal.flush()
        if error is not None:
            raise error

    def append_soon(self, line: bytes, done: Done) -> None:
        self._journal.add(line, self._places, done)

    def read(self) -> bytes:
        return b"".join(self._journal.read(*place) for place in self._places)


def make_recorder(folder: Path | None) -> Recorder:
    """A journal in the folder, or memory."""
    return MemoryRecorder() if folder is None else JournalRecorder(folder)


__all__ = ["JournalRecorder", "Log", "MemoryRecorder", "Recorder", "make_recorder"]
