"""What a click, a hover and typing do to an element, given its number's node.

Ordinary elements get real mouse and key events. Three kinds cannot be served by them: the list of a `select` is drawn
outside the page, so its options are chosen by script with the events a person's choice sends; date and colour fields
take keys by locale, so their value is set; an element without a box is clicked by script.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from playwright.async_api import Error

from .context import VIEWPORT_HEIGHT_PX, VIEWPORT_WIDTH_PX
from .errors import ActionRefused
from .tab import Tab

MAX_TEXT_CHARS = 100_000

# What takes the text that is typed at an element: a label's field, an editor's, the outermost editable element.
_TARGET = """
  let element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  const editor = element && element.closest('.CodeMirror');
  if (editor) element = editor.querySelector('textarea');
  else if (element && element.closest('label')) element = element.closest('label').control || element;
  while (element && element.isContentEditable && element.parentElement && element.parentElement.isContentEditable)
    element = element.parentElement;
"""

DESCRIBE = (
    """function () {
  const itself = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  if (!itself || !itself.isConnected) return {kind: 'gone'};
  const option = itself.closest('option');
  if (option && option.closest('select')) return {kind: 'option'};
  if (itself.tagName === 'SELECT') return {kind: 'select', disabled: itself.matches(':disabled')};
"""
    + _TARGET
    + """
  const tag = element.tagName, type = tag === 'INPUT' ? element.type : '', disabled = itself.matches(':disabled');
  const typed = ['text', 'search', 'email', 'url', 'tel', 'password', 'number'];
  const set = ['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'];
  let takes = tag === 'TEXTAREA' || element.isContentEditable || typed.includes(type) ? 'keys' : 'nothing';
  if (set.includes(type)) takes = 'value';
  if (takes !== 'nothing' && element.readOnly) takes = 'readonly';
  if (element.matches(':disabled')) takes = 'disabled';
  return {kind: 'other', disabled, takes, type};
}"""
)

CHOOSE = """function (wanted) {
  const element = this.nodeType === Node.ELEMENT_NODE ? this : this.parentElement;
  const select = element.closest('select'), clean = text => text.replace(/\\s+/g, ' ').trim().toLowerCase();
  const usable = [...select.options].filter(o => !o.disabled && !(o.parentElement.disabled));
  let option = element.closest('option');
  if (wanted !== null) {
    option = usable.find(o => clean(o.label) === clean(wanted)) || usable.find(o => o.value === wanted)
      || (usable.filter(o => clean(o.label).startsWith(clean(wanted))).length === 1
          && usable.find(o => clean(o.label).startsWith(clean(wanted))));
  }
  if (select.matches(':disabled')) return {problem: 'the list is disabled'};
  if (!option) return {problem: 'no such option', options: usable.slice(0, 40).map(o => o.label)};
  if (!usable.includes(option)) return {problem: 'the option is disabled'};
  select.focus();
  if (select.multiple) option.selected = wanted !== null || !option.selected; else option.selected = true;
  select.dispatchEvent(new Event('input', {bubbles: true}));
  select.dispatchEvent(new Event('change', {bubbles: true}));
  return {chosen: option.label};
}"""

FOCUS = (
    "function () {"
    + _TARGET
    + """
  const root = element.getRootNode();
  if (root.activeElement !== element) element.focus();
  return root.activeElement === element;
}"""
)

SET_VALUE = (
    "function (text) {"
    + _TARGET
    + """
  const setter = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set;
  const before = element.value;
  element.focus();
  setter.call(element, text);
  if (text && element.value.toLowerCase() !== text.toLowerCase()) { setter.call(element, before); return false; }
  element.dispatchEvent(new Event('input', {bubbles: true}));
  element.dispatchEvent(new Event('change', {bubbles: true}));
  return true;
}"""
)

VALUE_FORMS = {
    "date": "2024-12-31",
    "time": "23:59",
    "datetime-local": "2024-12-31T23:59",
    "month": "2024-12",
    "week": "2024-W52",
    "color": "#aabbcc",
    "range": "a number in its range",
}

WHY_NOT = {"nothing": "does not take text", "disabled": "is disabled", "readonly": "is read-only"}


@dataclass(frozen=True, slots=True)
class Element:
    """An element that an action names."""

    tab: Tab
    number: int
    backend_id: int

    async def click(self) -> None:
        """Click it; choose it if it is an option.

        Raises:
            ActionRefused: it left the page, is disabled, or is a list whose options are to be chosen instead.
        """
        handle = await self.tab.object_of(self.backend_id)
        about = await self._describe(handle)
        if about["kind"] == "option":
            await self._choose(handle, None)
            return
        if about["disabled"]:
            raise ActionRefused(f"element [{self.number}] is disabled")
        if about["kind"] == "select":
            raise ActionRefused(
                f"element [{self.number}] is a list: click the number of an option, or type the option's text into it"
            )
        if not await self._press_mouse():
            await self.tab.call(handle, "function () { (this.click ? this : this.parentElement).click(); }")

    async def hover(self) -> None:
        """Move the mouse to its middle.

        Raises:
            ActionRefused: it left the page or has no place on it.
        """
        await self.tab.object_of(self.backend_id)
        point = await self._middle()
        if point is None:
            raise ActionRefused(f"element [{self.number}] has no place on the page to move the mouse to")
        await self._mouse("mouseMoved", point)

    async def type(self, text: str) -> bool:
        """Replace what it holds by `text`; for a list, choose the option of that text. Whether keys may follow.

        Raises:
            ActionRefused: it takes no text, or not this one.
        """
        if len(text) > MAX_TEXT_CHARS:
            raise ActionRefused(f"the text has {len(text)} characters; the limit is {MAX_TEXT_CHARS}")
        handle = await self.tab.object_of(self.backend_id)
        about = await self._describe(handle)
        if about["kind"] in ("select", "option"):
            await self._choose(handle, text)
            return False
        if about["takes"] in WHY_NOT:
            raise ActionRefused(f"element [{self.number}] {WHY_NOT[about['takes']]}")
        if about["takes"] == "value":
            await self._set_value(handle, text, about["type"])
            return True
        await self._press_mouse()
        if not await self.tab.call(handle, FOCUS):
            raise ActionRefused(f"element [{self.number}] could not be focused")
        keyboard = self.tab.page.keyboard
        await keyboard.press("ControlOrMeta+A")
        if text:
            await keyboard.insert_text(text)
        else:
            await keyboard.press("Delete")
        return True

    async def _describe(self, handle: str) -> dict[str, Any]:
        about: dict[str, Any] = await self.tab.call(handle, DESCRIBE)
        if about["kind"] == "gone":
            raise ActionRefused("the element is no longer on the page")
        return about

    async def _choose(self, handle: str, wanted: str | None) -> None:
        result: dict[str, Any] = await self.tab.call(handle, CHOOSE, wanted)
        if "problem" in result:
            options = "; the options are " + ", ".join(map(repr, result["options"])) if "options" in result else ""
            raise ActionRefused(f"element [{self.number}]: {result['problem']}{options}")

    async def _set_value(self, handle: str, text: str, kind: str) -> None:
        if not await self.tab.call(handle, SET_VALUE, text):
            raise ActionRefused(f"element [{self.number}] takes a {kind} written like {VALUE_FORMS[kind]}")

    async def _press_mouse(self) -> bool:
        """A click in its middle; False if it has no place on the page."""
        point = await self._middle()
        if point is None:
            return False
        await self._mouse("mouseMoved", point)
        await self._mouse("mousePressed", point, clicks=1)
        await self._mouse("mouseReleased", point, clicks=1)
        return True

    async def _mouse(self, kind: str, point: tuple[float, float], clicks: int = 0) -> None:
        button = "left" if clicks else "none"
        params = {"type": kind, "x": point[0], "y": point[1], "button": button, "clickCount": clicks}
        await self.tab.send("Input.dispatchMouseEvent", params)

    async def _middle(self) -> tuple[float, float] | None:
        """The middle of its first visible part, scrolled into view."""
        node = {"backendNodeId": self.backend_id}
        try:
            await self.tab.send("DOM.scrollIntoViewIfNeeded", node)
            quads = (await self.tab.send("DOM.getContentQuads", node))["quads"]
        except Error:
            return None
        for quad in quads:
            x, y = sum(quad[0::2]) / 4, sum(quad[1::2]) / 4
            area = abs(quad[4] - quad[0]) * abs(quad[5] - quad[1])
            if area >= 1 and 0 <= x < VIEWPORT_WIDTH_PX and 0 <= y < VIEWPORT_HEIGHT_PX:
                return x, y
        return None
