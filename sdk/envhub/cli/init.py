"""`envhub init`: a small environment to begin with, which validates and serves at once."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from envhub.cli.output import AsJson, print_json

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".jinja"


class Template(StrEnum):
    """What `--template` may be: the folders in templates/."""

    TOOL = "tool"
    TEXT = "text"


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Lower-case words joined by hyphens.")],
    template: Annotated[
        Template, typer.Option(help="tool: driven by tool calls. text: driven by messages.")
    ] = Template.TOOL,
    parent: Annotated[Path, typer.Option("--dir", metavar="DIR", help="Make the folder in there.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Begin an environment: manifest, code, tasks, oracle, tests and README.

    It validates and serves as it is. Nothing is ever overwritten.

    Examples:
      envhub init my-env
      envhub init my-game --template text --dir environments
      envhub validate ./my-env && envhub serve ./my-env
    """
    folder = parent.expanduser() / checked_name(name)
    files = write_template(template, name, folder)
    if as_json:
        print_json({"name": name, "folder": str(folder.resolve()), "files": files})
        return
    shown = folder if folder.is_absolute() else f"./{folder}"
    print(f"{shown} holds {', '.join(files)}. Next:\n")
    print(f"  envhub validate {shown}\n  envhub serve {shown}")


def checked_name(name: str) -> str:
    """The name, if an environment may be called that.

    Raises:
        InvalidRequest: it may not; a name that would do is given.
    """
    from envhub.sdk.errors import InvalidRequest
    from envhub.sdk.manifest import NAME

    if NAME.fullmatch(name):
        return name
    near = "-".join(re.findall("[a-z0-9]+", name.lower()))
    raise InvalidRequest(
        f"{name!r} cannot be an environment's name: lower-case letters and digits in words joined by single hyphens, "
        f"as in {near or 'my-env'}; --dir says where the folder is made"
    )


def write_template(template: Template, name: str, folder: Path) -> list[str]:
    """Fill a template into a new folder; the names of the files made.

    Raises:
        InvalidRequest: the folder exists and is not empty, or cannot be made.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    from envhub.sdk.errors import InvalidRequest

    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InvalidRequest(f"{folder} exists already and is not overwritten; choose another name, or --dir")
    root = TEMPLATES / template.value
    jinja = Environment(loader=FileSystemLoader(root), undefined=StrictUndefined, keep_trailing_newline=True)
    words = {"name": name, "title": name.replace("-", " ").title(), "class_name": name.title().replace("-", "")}
    made = []
    try:
        for source in sorted(root.rglob(f"*{SUFFIX}")):
            relative = source.relative_to(root).as_posix()
            target = folder / relative.removesuffix(SUFFIX)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(jinja.get_template(relative).render(words), encoding="utf-8")
            made.append(relative.removesuffix(SUFFIX))
    except OSError as error:
        raise InvalidRequest(f"cannot write {error.filename}: {error.strerror}") from error
    return made


__all__ = ["Template", "checked_name", "init", "write_template"]
