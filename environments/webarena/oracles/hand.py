"""The oracles' hand: finds what to click by role and name in the latest observation, and acts by WebArena's strings."""

from __future__ import annotations

from typing import Protocol

from envhub.sdk import Observation

from .page import Element, Name, Page, read_page


class Agent(Protocol):
    """What the oracles need of the agent's handle."""

    @property
    def observation(self) -> Observation: ...

    async def act(self, message: str) -> Observation: ...


class Hand:
    """Acts through an agent. An element that is named but not on the page raises LookupError."""

    def __init__(self, agent: Agent, homes: dict[str, str]) -> None:
        self._agent = agent
        self._homes = homes

    @property
    def page(self) -> Page:
        """The page as it is now."""
        return read_page(self._agent.observation.text)

    async def click(self, role: str, name: Name | None = None, *, after: Element | None = None) -> None:
        """Click the first element of a role and name."""
        await self.click_on(self.page.find(role, name, after=after))

    async def click_on(self, element: Element) -> None:
        """Click an element that was found on this page."""
        await self._agent.act(f"click [{element.number}]")

    async def type(
        self, role: str, name: Name | None, text: str, *, after: Element | None = None, enter: bool = False
    ) -> None:
        """Replace what a field holds, or choose an option of a list by its text."""
        field = self.page.find(role, name, after=after)
        await self._agent.act(f"type [{field.number}] [{text}] [{int(enter)}]")

    async def choose(self, name: Name, option: str, *, after: Element | None = None) -> None:
        """Open a list that a script draws, and click one of its options."""
        await self.click("combobox", name, after=after)
        await self.click("option", option)

    async def open_site(self, site: str) -> None:
        """Go to the first page of a site, by the address that the prompt gives."""
        await self._agent.act(f"goto [{self._homes[site]}]")

    async def go_back(self) -> None:
        """Go to the page before this one."""
        await self._agent.act("go_back")

    async def stop(self, answer: str = "") -> None:
        """End the task."""
        await self._agent.act(f"stop [{answer}]")
