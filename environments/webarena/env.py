"""WebArena's kind of environment on sites that run locally: a shop, a forum and a wiki in a real browser.

One session is a visit (hosting.py): a fresh copy of the sites, and a browser context that reaches nothing else.
Driven by WebArena's action strings as messages, or by the same actions as tools (tools.py). Whatever an action cannot
do is a note in the next observation and costs a turn; what ends a session is the failure of sites or browser.
"""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import ClassVar

from envhub.sdk import (
    Action,
    Environment,
    HostContext,
    ImagePart,
    Observation,
    StepResult,
    Task,
    TaskSource,
    TextPart,
)

from . import browser
from .evaluate import EvalType, Evaluation, Evidence
from .hosting import Suites, Visit, begin_of
from .reward import grade, rubric_of
from .tools import BrowserTools
from .web_task import read_web_tasks, resolve

THE_END = "The task has ended."


class WebArena(BrowserTools, Environment):
    """One task in the browser.

    Config:
        screenshots: a picture of the window with every observation.
        max_chars: length of an observation's tree.
        warm: browser contexts kept ready.
        sites: site name -> host name.
    """

    rubric = rubric_of()
    shared: Suites
    site_hosts: ClassVar[Mapping[str, str] | None] = None
    """Site name -> host name where the user changed the manifest's."""

    _visit: Visit | None = None
    _answer = ""
    _opened_ms: Mapping[str, float] | None = None
    _verdicts: dict[EvalType, str] | None = None

    @classmethod
    def tasks(cls) -> TaskSource:
        return read_web_tasks(cls.folder / "tasks", cls.site_hosts or cls.manifest.config["sites"])

    @classmethod
    @asynccontextmanager
    async def lifespan(cls, context: HostContext) -> AsyncIterator[Suites]:
        """The sites and the browsers of this process."""
        async with Suites(context) as suites:
            # The host asks for the tasks next; their prompts name the addresses.
            cls.site_hosts = suites.sites
            yield suites

    async def reset(self, task: Task) -> Observation:
        self._evaluation = Evaluation.model_validate(task.private["eval"])
        self.rubric = rubric_of(self._evaluation.eval_types)
        self._visit = await self.shared.visit(begin_of(task.metadata, task.seed))
        seen = await self._visit.first_look(self._with_pictures)
        self._opened_ms = self._visit.opened_ms
        return Observation(parts=_parts(seen))

    async def step(self, action: Action) -> StepResult:
        result = await super().step(action)
        if self._opened_ms is None:
            return result
        # Once, for the control side: how long the parts of the opening took.
        opened_ms, self._opened_ms = self._opened_ms, None
        return result.model_copy(update={"info": {**result.info, "opened_ms": dict(opened_ms)}})

    async def message(self, text: str) -> Observation:
        """Carry out the action that is written in a message."""
        try:
            action = browser.parse_action(text)
        except browser.ActionParseError as error:
            seen = await self._look(screenshot=self._with_pictures)
            return Observation(parts=(TextPart(text=f"Note: {error.message}\n{seen.text}"), *_parts(seen)[1:]))
        content = await self.do(action)
        if isinstance(action, browser.Stop):
            self.finish()
        return Observation(parts=content)

    async def do(self, action: browser.Action) -> tuple[TextPart | ImagePart, ...]:
        """Carry out an action and look at the browser."""
        if isinstance(action, browser.Stop):
            self._answer = action.answer
            return (TextPart(text=THE_END),)
        visit = self._open_visit
        async with visit.boundary():
            await visit.browser.perform(action)
        return await self.look()

    async def look(self, *, screenshot: bool = False) -> tuple[TextPart | ImagePart, ...]:
        """Look at the browser."""
        return _parts(await self._look(screenshot=screenshot or self._with_pictures))

    async def close(self) -> None:
        if self._visit is not None:
            await self._visit.close()

    async def verdicts(self) -> dict[EvalType, str]:
        """Verdict by evaluator, empty where it is passed; worked out once."""
        if self._verdicts is None:
            self._verdicts = await grade(self._evaluation, self._evidence(), self._open_visit)
        return self._verdicts

    async def count_requests(self, *, refused: bool) -> int:
        """Requests of the session's browser, or only those for addresses that are none of the sites'."""
        requests = await self._open_visit.requests()
        sites = tuple(f"http://{host}/" for host in self.shared.sites.values())
        return sum(not refused or not each.url.startswith(sites) for each in requests)

    def _evidence(self) -> Evidence:
        visit = self._open_visit
        return Evidence(
            answer=self._answer,
            address=visit.browser.url,
            resolve=lambda text: resolve(text, self.shared.sites),
            look=visit.browser.inspect,
            rows=visit.site.query,
            changes=visit.site.changes,
        )

    async def _look(self, *, screenshot: bool) -> browser.BrowserObservation:
        return await self._open_visit.observe(screenshot)

    @property
    def _open_visit(self) -> Visit:
        assert self._visit is not None, "reset comes before everything else"
        return self._visit

    @property
    def _with_pictures(self) -> bool:
        return bool(self.config["screenshots"])


def _parts(seen: browser.BrowserObservation) -> tuple[TextPart | ImagePart, ...]:
    text = TextPart(text=seen.text)
    if seen.screenshot is None:
        return (text,)
    return (text, ImagePart(data=base64.b64encode(seen.screenshot).decode()))
