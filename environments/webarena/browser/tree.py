"""WebArena's numbered accessibility tree: one line an element, its number, role, name and state, indented by depth.

    [1] RootWebArea 'Linen Mug'
      [2] link 'Home'
      [3] textbox 'Search' value: 'mug' focused: true

(indented by tabs). A pure function of what the DevTools protocol's Accessibility.getFullAXTree returns.
Numbers run in document order over the lines that are shown, and belong to that one observation.
Structure of the text: WebArena (Zhou et al., 2023). Deviations: values and chosen options are shown (its own tree
leaves them out), a password's value never is, numbers start at 1 on every page, frames hang below what holds them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Node = Mapping[str, Any]
"""One AXNode as the protocol sends it."""

DEFAULT_MAX_CHARS = 60_000
MAX_NAME_CHARS = 2_000
MAX_VALUE_CHARS = 20_000
SKIPPED_ROLES = frozenset({"InlineTextBox", "LineBreak", "ListMarker"})
# Roles that say nothing on their own: shown only when they have a name.
PLAIN_ROLES = frozenset({
    "", "none", "generic", "presentation", "paragraph", "list", "listitem", "group", "form", "div", "Section",
    "strong", "emphasis", "superscript", "subscript", "Abbr", "Time", "LabelText", "Legend", "rowgroup",
    "MenuListPopup",
})  # fmt: skip
# State that matters to a policy. A false value is shown only for the last four, where it means something.
STATES = ("disabled", "focused", "required", "readonly", "hasPopup", "checked", "expanded", "pressed", "selected")
SHOWN_WHEN_FALSE = frozenset({"checked", "expanded", "pressed"})
TEXT_ROLES = frozenset({"textbox", "searchbox", "spinbutton", "combobox", "textField"})
# The options of a select, and the list that a combobox made by a script owns while it is open.
POPUP_ROLES = frozenset({"MenuListPopup", "listbox"})


@dataclass(frozen=True, slots=True)
class Tree:
    """The text of a page and what its numbers stand for."""

    text: str
    elements: Mapping[int, int] = field(default_factory=dict)
    """Number in the text -> backendDOMNodeId."""
    truncated: bool = False
    """Whether lines were left out; the text says so as well."""


def render_tree(
    nodes: Sequence[Node],
    frames: Mapping[int, Sequence[Node]] | None = None,
    *,
    max_chars: int = DEFAULT_MAX_CHARS,
) -> Tree:
    """The numbered text of a page.

    Args:
        nodes: AXNodes of the main frame, the root first.
        frames: AXNodes of each child frame, keyed by the backendDOMNodeId of the element that holds it.
        max_chars: the text is cut at a line end before it grows longer than this.
    """
    lines: list[str] = []
    elements: dict[int, int] = {}
    size = hidden = 0
    for depth, node in _shown(nodes, frames or {}):
        line = "\t" * depth + f"[{len(lines) + 1}] {_describe(node)}"
        if hidden or size + len(line) + 1 > max_chars:
            hidden += 1
            continue
        lines.append(line)
        size += len(line) + 1
        if (backend_id := node.get("backendDOMNodeId")) is not None:
            elements[len(lines)] = backend_id
    if hidden:
        lines.append(f"(the page goes on: {hidden} more lines are not shown, the limit is {max_chars} characters)")
    return Tree("\n".join(lines), elements, bool(hidden))


def _shown(nodes: Sequence[Node], frames: Mapping[int, Sequence[Node]]) -> list[tuple[int, Node]]:
    """Depth and node of every line, in document order."""
    shown: list[tuple[int, Node]] = []
    index = {id(group): {node["nodeId"]: node for node in group} for group in [nodes, *frames.values()]}
    # An explicit stack: a page may nest deeper than Python recurses.
    stack: list[tuple[Node, Mapping[str, Node], int, str]] = []
    if nodes:
        stack.append((nodes[0], index[id(nodes)], 0, ""))
    while stack:
        node, group, depth, above = stack.pop()
        name = _name(node)
        visible = _is_line(node, name, above)
        if visible:
            shown.append((depth, node))
        below = (depth + 1, name) if visible else (depth, above)
        if visible and _role(node) in TEXT_ROLES and _value(node):
            # Its text is its value: once is enough. The options of a list are still wanted.
            children = [c for c in _children(node, group) if _role(c) in POPUP_ROLES]
        else:
            children = _children(node, group)
        frame = frames.get(node.get("backendDOMNodeId") or -1)
        if frame:
            stack.append((frame[0], index[id(frame)], *below))
        stack.extend((child, group, *below) for child in reversed(children))
    return shown


def _children(node: Node, group: Mapping[str, Node]) -> list[Node]:
    return [group[child] for child in node.get("childIds") or () if child in group]


def _is_line(node: Node, name: str, above: str) -> bool:
    role = _role(node)
    if node.get("ignored") or role in SKIPPED_ROLES:
        return False
    if role == "StaticText":
        return bool(name) and name != above
    return bool(name) or role not in PLAIN_ROLES


def _describe(node: Node) -> str:
    parts = [_role(node), repr(_name(node))]
    if value := _value(node):
        parts.append(f"value: {value!r}")
    properties = {p["name"]: p.get("value", {}).get("value") for p in node.get("properties") or ()}
    for state in STATES:
        value_text = str(properties.get(state, "")).lower()
        if value_text in ("", "none") or (value_text == "false" and state not in SHOWN_WHEN_FALSE):
            continue
        parts.append(f"{state}: {value_text}")
    return " ".join(parts)


def _role(node: Node) -> str:
    return str((node.get("role") or {}).get("value") or "")


def _name(node: Node) -> str:
    return _clean(str((node.get("name") or {}).get("value") or ""))[:MAX_NAME_CHARS]


def _value(node: Node) -> str:
    value = (node.get("value") or {}).get("value")
    if value is None or value == "" or _role(node) == "RootWebArea":
        return ""
    text = str(value)
    # The protocol gives a bullet for each character of a password.
    if set(text) == {"•"}:
        return "(hidden)"
    hidden = len(text) - MAX_VALUE_CHARS
    return text if hidden <= 0 else f"{text[:MAX_VALUE_CHARS]}… ({hidden} more characters)"


def _clean(name: str) -> str:
    """One line, without the private characters that icon fonts draw with."""
    return " ".join("".join(c for c in name if unicodedata.category(c) not in ("Co", "Cf")).split())
