"""Tasks in WebArena's JSON format, one object a line of tasks/*.jsonl, as envhub's tasks.

WebArena's keys (config_files of https://github.com/web-arena-x/webarena): task_id, sites, start_url, intent_template,
instantiation_dict, intent, intent_template_id, require_login, eval. Ours beside them: split, login, start_time,
comment. Addresses are written with placeholders, "__SHOP__/catalogue/". What `eval` says stays private.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from envhub.sdk import ListedTasks, ManifestError, Task

from .evaluate import Evaluation
from .prompt import prompt_of

SiteName = Literal["shop", "forum", "wiki"]
DEFAULT_START_TIME = datetime.fromisoformat("2025-06-16T09:00:00+00:00")
"""Just after the last thing that happens on the sites."""


class WebArenaTask(BaseModel):
    """One line of a task file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    task_id: int = Field(ge=0)
    sites: tuple[SiteName, ...] = Field(min_length=1)
    start_url: str
    """Where the browser is at first."""
    intent_template: str
    instantiation_dict: dict[str, Any] = Field(default_factory=dict)
    intent: str
    intent_template_id: int
    """Tasks of one template differ in words only; a template belongs to one split."""
    require_login: bool = False
    """The task needs an account; without `login` the policy is given one and logs in by itself."""
    login: dict[SiteName, str] | None = None
    """Site -> user name as which the browser is logged in at first."""
    eval: Evaluation
    split: Literal["train", "test"]
    start_time: AwareDatetime = DEFAULT_START_TIME
    """The sites' and the browser's time at the start."""
    comment: str | None = None
    """For readers of the file."""
    storage_state: None = None
    geolocation: None = None
    require_reset: bool = False
    """The last three: WebArena's, without a meaning here, where every session is fresh."""

    @model_validator(mode="after")
    def _one_start(self) -> WebArenaTask:
        if "|AND|" in self.start_url:
            raise ValueError("several start addresses (|AND|) are not supported; name one")
        return self


def read_web_tasks(folder: Path, sites: Mapping[str, str]) -> ListedTasks:
    """The tasks of every *.jsonl in a folder, in name order.

    Args:
        folder: where the files are.
        sites: site name -> host name, put in place of the placeholders.

    Raises:
        ManifestError: no files, a line that is no task, or a template in two splits; says which.
    """
    files = sorted(folder.glob("*.jsonl"))
    if not files:
        raise ManifestError(f"no tasks in {folder}; put *.jsonl files of WebArena's format there")
    specs = [spec for file in files for spec in _read(file)]
    split_of: dict[int, str] = {}
    for spec in specs:
        if split_of.setdefault(spec.intent_template_id, spec.split) != spec.split:
            raise ManifestError(f"template {spec.intent_template_id} is in both splits, see task {spec.task_id}")
    return ListedTasks(_task(spec, sites) for spec in specs)


def resolve(text: str, sites: Mapping[str, str]) -> str:
    """A text with the sites' addresses in place of __SHOP__ and its like."""
    for site, host in sites.items():
        text = text.replace(f"__{site.upper()}__", f"http://{host}")
    return text


def _read(file: Path) -> Iterator[WebArenaTask]:
    for number, line in enumerate(file.read_bytes().split(b"\n"), start=1):
        if line.strip():
            try:
                yield WebArenaTask.model_validate_json(line)
            except ValidationError as error:
                problem = error.errors()[0]
                place = ".".join(map(str, problem["loc"])) or "the line"
                raise ManifestError(f"{file}:{number}: {place}: {problem['msg']}") from error


def _task(spec: WebArenaTask, sites: Mapping[str, str]) -> Task:
    logins = {str(site): user for site, user in (spec.login or {}).items()}
    return Task(
        id=f"webarena-{spec.task_id}",
        prompt=prompt_of(
            resolve(spec.intent, sites),
            sites,
            logins=logins,
            account=spec.require_login and not logins,
            time=spec.start_time,
        ),
        split=spec.split,
        seed=spec.task_id,
        metadata={
            "template": spec.intent_template_id,
            "parameters": spec.instantiation_dict,
            "sites": list(spec.sites),
            "start_url": resolve(spec.start_url, sites),
            "start_time": spec.start_time.isoformat(),
            "login": logins,
        },
        private={"eval": spec.eval.model_dump(mode="json", exclude_none=True)},
    )
