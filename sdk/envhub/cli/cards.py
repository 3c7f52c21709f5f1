"""How an environment and its tasks look in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from envhub.cli.output import console

STYLES = {"proven": "green", "deterministic-only": "yellow", "unproven": "yellow"}
SHOWN_CHARACTERS = 100


def print_card(facts: Mapping[str, Any]) -> None:
    """One environment."""
    out = console()
    head = Text.assemble((str(facts["title"]), "bold"), f"  {facts['version']}")
    if facts["title"] != facts["name"]:
        head.append(f"  ({facts['name']})", "dim")
    out.print(head)
    out.print(f"  {facts['summary']}", markup=False)
    table = Table(show_header=False, box=None, padding=(0, 2))
    for name, value in _rows(facts):
        table.add_row(Text(name, "dim"), value if isinstance(value, Text) else Text(value))
    out.print(table)
    if facts.get("note"):
        out.print(f"\n  {facts['note']}", style="yellow", markup=False)


def _rows(facts: Mapping[str, Any]) -> list[tuple[str, str | Text]]:
    status = str(facts["status"])
    proof = Text(status, STYLES.get(status, ""))
    if facts.get("reason"):
        proof.append(f": {facts['reason']}", "dim")
    rows: list[tuple[str, str | Text]] = [("status", proof)]
    for name, split in (facts.get("splits") or {}).items():
        size = "infinite" if split["tasks"] is None else f"{split['tasks']} tasks"
        rows.append((f"split {name}", Text.assemble(size, (f"  {split['about']}", "dim"))))
    if facts.get("tools") is not None:
        names = [str(tool["name"]) for tool in facts["tools"]]
        rows.append(("driven by", ", ".join(names + (["messages"] if facts.get("accepts_messages") else []))))
    rows.append(("turns", f"at most {facts['max_turns']}"))
    if "licences" in facts:
        rows.append(("licences", f"{facts['licences']['wrapper']}; data {facts['licences']['data']}"))
    if facts.get("requirements") or facts.get("requirements_file"):
        rows.append(("requires", ", ".join([*facts["requirements"], *filter(None, [facts["requirements_file"]])])))
    if facts.get("config"):
        rows.append(("config", ", ".join(f"{key}={value}" for key, value in facts["config"].items())))
    if "folder" in facts:
        rows.append(("folder", str(facts["folder"])))
    return rows


def print_tasks(page: Mapping[str, Any]) -> None:
    """A page of tasks."""
    table = Table("id", "split", "asks", box=None, header_style="dim", pad_edge=False)
    for task in page["tasks"]:
        table.add_row(Text(task["id"]), Text(task["split"]), Text(_asks(task)))
    out = console()
    out.print(table)
    sizes = ", ".join(f"{name} {'infinite' if size is None else size}" for name, size in page["splits"].items())
    more = f"; more from --offset {page['next_offset']}" if page["next_offset"] is not None else ""
    out.print(f"\n{page['environment']}: {sizes}{more}", style="dim", markup=False)


def _asks(task: Mapping[str, Any]) -> str:
    """What the task asks: the last paragraph of its prompt, since what all tasks share comes before."""
    contents = [message["content"] for message in task["prompt"] if message["role"] == "user"]
    text = "\n\n".join(content for content in contents if isinstance(content, str))
    line = " ".join(text.rstrip().rpartition("\n\n")[2].split())
    return line if len(line) <= SHOWN_CHARACTERS else line[: SHOWN_CHARACTERS - 1] + "…"


__all__ = ["print_card", "print_tasks"]
