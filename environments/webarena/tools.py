"""WebArena's actions as tools: each builds the action that its string is parsed to, and does the same."""

from __future__ import annotations

from abc import abstractmethod
from typing import Annotated, Literal

from pydantic import Field

from envhub.sdk import tool
from envhub.sdk.tools import Content

from . import browser

ElementId = Annotated[int, Field(ge=0, description="An element's number on the page you see now.")]


class BrowserTools:
    """Mixed into the environment. They are exclusive: a browser does one thing after the other."""

    @abstractmethod
    async def do(self, action: browser.Action) -> Content:
        """Carry out an action and look at the browser."""

    @abstractmethod
    async def look(self, *, screenshot: bool = False) -> Content:
        """Look at the browser."""

    @tool(exclusive=True)
    async def click(self, element_id: ElementId) -> Content:
        """Click an element, or choose an option of a list."""
        return await self.do(browser.Click(element_id))

    @tool(name="type", exclusive=True)
    async def type_text(
        self,
        element_id: ElementId,
        text: str,
        press_enter: Annotated[bool, Field(description="Press Enter afterwards.")] = True,
    ) -> Content:
        """Put a text into a field, in place of what it holds."""
        return await self.do(browser.Type(element_id, text, press_enter))

    @tool(exclusive=True)
    async def hover(self, element_id: ElementId) -> Content:
        """Move the mouse over an element."""
        return await self.do(browser.Hover(element_id))

    @tool(exclusive=True)
    async def press(self, keys: Annotated[str, Field(description="A key or a combination: Control+a.")]) -> Content:
        """Press a key or a combination of keys."""
        return await self.do(browser.Press(keys))

    @tool(exclusive=True)
    async def scroll(self, direction: Literal["down", "up"]) -> Content:
        """Scroll by the height of the window."""
        return await self.do(browser.Scroll(direction))

    @tool(exclusive=True)
    async def new_tab(self) -> Content:
        """Open an empty tab and go to it."""
        return await self.do(browser.NewTab())

    @tool(exclusive=True)
    async def tab_focus(self, index: Annotated[int, Field(ge=0, description="Its number in the tab line.")]) -> Content:
        """Go to another tab."""
        return await self.do(browser.TabFocus(index))

    @tool(exclusive=True)
    async def close_tab(self) -> Content:
        """Close the current tab."""
        return await self.do(browser.CloseTab())

    @tool(exclusive=True)
    async def goto(self, url: Annotated[str, Field(description="An address of the sites: http://...")]) -> Content:
        """Open an address in the current tab."""
        return await self.do(browser.Goto(url))

    @tool(exclusive=True)
    async def go_back(self) -> Content:
        """Go to the page before this one."""
        return await self.do(browser.GoBack())

    @tool(exclusive=True)
    async def go_forward(self) -> Content:
        """Undo a go_back."""
        return await self.do(browser.GoForward())

    @tool(exclusive=True)
    async def screenshot(self) -> Content:
        """Look at the page again, with a picture of the window."""
        return await self.look(screenshot=True)

    @tool(terminal=True)
    async def stop(
        self, answer: Annotated[str, Field(description="The answer, as short as it can be; empty if none.")] = ""
    ) -> Content:
        """End the task."""
        return await self.do(browser.Stop(answer.strip()))
