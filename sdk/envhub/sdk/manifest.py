"""Manifest: envhub.toml, what an environment says of itself. Unknown keys are errors with the nearest known one."""

from __future__ import annotations

import difflib
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from envhub.sdk.errors import ManifestError
from envhub.sdk.messages import JsonObject

FILE_NAME = "envhub.toml"
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
Seconds = Annotated[float, Field(gt=0, le=86_400)]


class _Table(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Licences(_Table):
    """SPDX expressions: the wrapper and the data often differ."""

    wrapper: str
    data: str


class Resources(_Table):
    """What one session needs."""

    memory_mb: int = Field(default=64, gt=0)
    cpus: float = Field(default=0.1, gt=0)


class Deadlines(_Table):
    """Seconds after which the host stops waiting. Every wait has one."""

    open_s: Seconds = 60.0
    """reset, with everything a new session needs."""
    step_s: Seconds = 30.0
    """One step: passing it truncates the episode, without a reward."""
    grade_s: Seconds = 60.0
    """The rubric: passing it leaves the episode unresolved."""
    episode_s: Seconds = 3600.0
    """The whole episode: passing it truncates, with the reward at the cut."""
    lease_s: Seconds = 120.0
    """A session nobody stepped or renewed for so long is closed."""


class Sandbox(_Table):
    """The policy an environment's sandbox must enforce."""

    network: Literal["none", "allow-list", "full"] = "none"
    allow: tuple[str, ...] = ()
    """Host names, for network = "allow-list"."""


class Oracle(_Table):
    """How the environment proves itself."""

    entry: str = "oracle:solve"
    """module:function of `async def solve(task, agent)`."""
    near_miss: str | None = None
    """module:function that nearly solves the task and must earn nothing; None: the oracle without its last action."""
    status: Literal["proven", "deterministic-only", "unproven"] = "unproven"
    """What is claimed; `envhub validate` checks it."""
    reason: str | None = None
    """Why it is not proven; required unless it is."""


class Manifest(_Table):
    """An environment's envhub.toml."""

    name: str
    """Lower-case words joined by hyphens."""
    version: str = "0.1.0"
    title: str = ""
    """What people are shown; default the name."""
    summary: str
    """One line."""
    entry: str = "env:Environment"
    """module:class, relative to the folder."""
    tags: tuple[str, ...] = ()
    licences: Licences
    requirements: tuple[str, ...] = ()
    """Requirement specifiers; a virtual environment is made for them. Empty: none is needed."""
    requirements_file: str | None = None
    """A file of requirements in the folder, used beside `requirements`."""
    isolation: Literal["inline", "process"] = "process"
    """inline only for code that never blocks the event loop; process: one worker process a session."""
    capabilities: tuple[Literal["text", "image", "tools", "messages"], ...] = ("text",)
    max_turns: int = Field(default=50, gt=0)
    """Steps after which the episode is truncated; a session may ask for fewer."""
    resources: Resources = Resources()
    deadlines: Deadlines = Deadlines()
    sandbox: Sandbox = Sandbox()
    oracle: Oracle = Oracle()
    splits: dict[str, str] = Field(default_factory=dict)
    """Split name -> one line on what it holds."""
    config: JsonObject = Field(default_factory=dict)
    """Defaults of what `--config key=value` may change; handed to the environment."""

    @field_validator("name")
    @classmethod
    def _plain_name(cls, value: str) -> str:
        if not NAME.fullmatch(value):
            raise ValueError("use lower-case letters and digits in words joined by single hyphens")
        return value

    @property
    def display(self) -> str:
        """The title, or the name where there is none."""
        return self.title or self.name


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an environment folder.

    Raises:
        ManifestError: no folder, no envhub.toml, not TOML, an unknown key or a wrong value; says which and where.
    """
    file = folder / FILE_NAME
    if not folder.is_dir():
        raise ManifestError(f"no folder {folder}; `envhub init {folder.name}` makes one")
    if not file.is_file():
        raise ManifestError(f"no {FILE_NAME} in {folder}; `envhub init` shows what one looks like")
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"{file} is not TOML: {error}") from error
    return parse_manifest(content, str(file))


def parse_manifest(content: dict[str, Any], where: str) -> Manifest:
    """A manifest of parsed TOML; `where` names its origin in errors."""
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(_explain(item["loc"], item["type"], item["msg"]) for item in error.errors())
        raise ManifestError(f"{where}: {problems}") from error


def _explain(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    path = ".".join(map(str, loc))
    if kind != "extra_forbidden":
        return f"{path}: {message}"
    known = _keys_at(loc[:-1])
    near = difflib.get_close_matches(str(loc[-1]), known, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(known)}"
    return f"unknown key {path!r}; {hint}"


def _keys_at(parents: tuple[int | str, ...]) -> list[str]:
    table: type[BaseModel] = Manifest
    for parent in parents:
        field = table.model_fields.get(str(parent))
        options = [field.annotation, *get_args(field.annotation)] if field else []
        table = next((kind for kind in options if isinstance(kind, type) and issubclass(kind, BaseModel)), table)
    return list(table.model_fields)


__all__ = [
    "FILE_NAME",
    "Deadlines",
    "Licences",
    "Manifest",
    "Oracle",
    "Resources",
    "Sandbox",
    "parse_manifest",
    "read_manifest",
]
